import type { ChecksumEntry } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged, printable } from '../faults.ts';

const FILE = SET_FILES.checksums;

/** Maximum size in bytes, far above any real list, because a list is read as a whole. */
export const CHECKSUMS_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Renders the list as `sha256sum` does: hash, two spaces, name. The lines are sorted bytewise. The names have no line
 * ends and no backslashes.
 */
export function renderChecksums(entries: readonly ChecksumEntry[]): string {
  return [...entries]
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .map((entry) => `${entry.sha256}  ${entry.name}\n`)
    .join('');
}

/**
 * Parses the output of `sha256sum` and similar programs. CRLF, `./name`, `*`, one space, upper-case hex and `#` comments
 * are accepted.
 *
 * @throws IDKIT_DAMAGED for a malformed line, a name with a slash, a duplicate and an empty list
 */
export function parseChecksums(text: Uint8Array): readonly ChecksumEntry[] {
  const lines = decodeUtf8(text).split('\n');
  const entries = new Map<string, ChecksumEntry>();
  for (const [index, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line === '' || line.startsWith('#')) continue;
    const entry = parseLine(line, index + 1);
    if (entries.has(entry.name)) throw damaged(FILE, `${printable(entry.name)} is listed twice`);
    entries.set(entry.name, entry);
  }
  if (entries.size === 0) throw damaged(FILE, 'the list is empty');
  return [...entries.values()];
}

function decodeUtf8(text: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch (error) {
    throw damaged(FILE, 'it is not UTF-8 text', error);
  }
}

function parseLine(line: string, number: number): ChecksumEntry {
  const match = /^([0-9A-Fa-f]{64}) [ *]?(.+)$/s.exec(line);
  if (match === null) throw damaged(FILE, `line ${number} is not a checksum line`);
  const [, sha256 = '', written = ''] = match;
  const name = written.replace(/^\.\//, '');
  if (name === '' || name === '.' || name === '..' || /[/\0\r]/.test(name))
    throw damaged(FILE, `line ${number} names ${printable(written)}, which is not a plain file name`);
  if (name === FILE) throw damaged(FILE, `line ${number} lists ${FILE} itself`);
  return { name, sha256: sha256.toLowerCase() };
}
