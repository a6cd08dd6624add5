import type { ChecksumEntry } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged, shown } from '../faults.ts';

const FILE = SET_FILES.checksums;

/** Far above any real list; a list is read as a whole. */
export const CHECKSUMS_MAX_BYTES = 16 * 1024 * 1024;

/** The list in coreutils' form: hash, two spaces, name; sorted bytewise. Names hold no line end and no backslash. */
export function renderChecksums(entries: readonly ChecksumEntry[]): string {
  return [...entries]
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .map((entry) => `${entry.sha256}  ${entry.name}\n`)
    .join('');
}

/**
 * Reads what `sha256sum` and its kin write: CRLF, `./name`, `*`, one space, upper-case hex and `#` comments
 * (contract §3, verify).
 *
 * @throws IDKIT_DAMAGED for a line that is none, a name with a slash, a duplicate and an empty list
 */
export function parseChecksums(text: Uint8Array): readonly ChecksumEntry[] {
  const lines = decodeUtf8(text).split('\n');
  const entries = new Map<string, ChecksumEntry>();
  for (const [index, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line === '' || line.startsWith('#')) continue;
    const entry = parseLine(line, index + 1);
    if (entries.has(entry.name)) throw damaged(FILE, `${shown(entry.name)} is listed twice`);
    entries.set(entry.name, entry);
  }
  if (entries.size === 0) throw damaged(FILE, 'the list is empty');
  return [...entries.values()];
}

function decodeUtf8(text: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch (error) {
    throw damaged(FILE, 'it is no UTF-8 text', error);
  }
}

function parseLine(line: string, number: number): ChecksumEntry {
  const match = /^([0-9A-Fa-f]{64}) [ *]?(.+)$/s.exec(line);
  if (match === null) throw damaged(FILE, `line ${number} is no checksum line`);
  const name = match[2]!.replace(/^\.\//, '');
  if (name === '' || name === '.' || name === '..' || /[/\0\r]/.test(name))
    throw damaged(FILE, `line ${number} names ${shown(match[2]!)}, which is no plain file name`);
  if (name === FILE) throw damaged(FILE, `line ${number} lists the list itself`);
  return { name, sha256: match[1]!.toLowerCase() };
}
