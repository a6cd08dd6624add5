import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IdkitError } from '../../core/index.ts';

const BLOCK = 512;

/** A file of a tar archive whose content is still missing bytes. */
interface OpenFile {
  handle: FileHandle;
  left: number;
  /** Bytes of padding after the content. */
  padding: number;
}

/**
 * Writes the archive of a base backup into `dir`. It contains only what Postgres itself writes there: directories,
 * files, and links to tablespaces, which are skipped.
 *
 * @param skip true for a path that is not written
 * @throws IDKIT_DAMAGED if the archive contains anything else or is cut off
 */
export async function unpackBase(
  archive: AsyncIterable<Uint8Array>,
  dir: string,
  skip: (path: string) => boolean = () => false,
): Promise<void> {
  let pending: Buffer = Buffer.alloc(0);
  let file: OpenFile | undefined;
  let skipped = 0;
  let zeros = 0;
  try {
    for await (const chunk of archive) {
      pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
      for (;;) {
        if (file !== undefined) {
          const part = pending.subarray(0, file.left);
          if (part.length > 0) await file.handle.writev([part]);
          file.left -= part.length;
          pending = pending.subarray(part.length);
          if (file.left > 0) break;
          await file.handle.close();
          skipped = file.padding;
          file = undefined;
        }
        const passed = Math.min(skipped, pending.length);
        pending = pending.subarray(passed);
        skipped -= passed;
        if (skipped > 0 || pending.length < BLOCK) break;
        const block = pending.subarray(0, BLOCK);
        pending = pending.subarray(BLOCK);
        if (isZero(block)) {
          zeros++;
          continue;
        }
        if (zeros > 0) throw damaged('has content after its end');
        const entry = readHeader(block);
        const padding = (BLOCK - (entry.size % BLOCK)) % BLOCK;
        if (entry.kind === 'link') continue;
        const path = join(dir, entry.path);
        if (entry.kind === 'directory') await mkdir(path, { recursive: true, mode: 0o700 });
        else if (skip(entry.path)) skipped = entry.size + padding;
        else {
          await mkdir(dirname(path), { recursive: true, mode: 0o700 });
          file = { handle: await open(path, 'wx', 0o600), left: entry.size, padding };
        }
      }
    }
    if (file !== undefined || skipped > 0 || pending.length > 0) throw damaged('is cut off');
  } finally {
    await file?.handle.close();
  }
}

interface Entry {
  path: string;
  kind: 'file' | 'directory' | 'link';
  size: number;
}

/** Parses the header of an entry (POSIX ustar). */
function readHeader(block: Buffer): Entry {
  const text = (start: number, length: number) => {
    const field = block.toString('utf8', start, start + length);
    const end = field.indexOf('\0');
    return end < 0 ? field : field.slice(0, end);
  };
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 32 : block[at]!;
  if (sum !== Number.parseInt(text(148, 8).trim(), 8)) throw damaged('has a header whose checksum is wrong');
  const path = text(0, 100).replace(/\/$/, '');
  const parts = path.replace(/^\.\//, '').split('/');
  if (
    path !== '.' &&
    parts.some((part) => part === '' || part === '.' || part === '..' || /[^\x20-\x7e]/.test(part))
  )
    throw damaged(`contains the path ${JSON.stringify(path)}`);
  const size = readSize(block);
  const type = String.fromCharCode(block[156]!);
  if (type === '0' || type === '\0') return { path, kind: 'file', size };
  if (type === '5') return { path, kind: 'directory', size: 0 };
  // A link of pg_tblspc or pg_wal. The server makes those that it needs from the file tablespace_map.
  if (type === '2') return { path, kind: 'link', size: 0 };
  throw damaged(`contains an entry of type ${JSON.stringify(type)}`);
}

/** Parses a size: octal digits, or a big-endian number whose first bit is set. */
function readSize(block: Buffer): number {
  const field = block.subarray(124, 136);
  const size =
    field[0] === 0x80 ? Number(field.readBigUInt64BE(4)) : Number.parseInt(field.toString('latin1'), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged('has a header with an invalid size');
  return size;
}

function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

function damaged(what: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the base backup of the archive ${what}`);
}
