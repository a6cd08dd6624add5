import { createHash } from 'node:crypto';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { type ChecksumEntry, SET_FILES, type SetHandle, type WorkOptions } from '../contract.ts';
import { damaged, reading } from '../faults.ts';
import { parseSetName } from './names.ts';
import { openRegular, readRegular, streamRegular } from './regular-file.ts';

const SMALL_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Opens a set to read. An explicit directory may have any name and be reached through a link; in it only regular
 * files are opened, never through a link (contract §3, verify).
 *
 * @throws IDKIT_NOT_FOUND where there is no such directory; IDKIT_DAMAGED for a `.partial-…` directory, which is
 *   never a set
 */
export async function openSet(dir: string): Promise<SetHandle> {
  const real = await realDirectory(dir);
  if ([basename(real), basename(resolve(dir))].some((name) => name.startsWith('.partial-')))
    throw damaged(dir, 'it is a backup that did not end, never a set');
  return openDirectory(real);
}

/** As `openSet`, for a set that is being made and will have another name. */
export async function openDirectory(dir: string, name = basename(dir)): Promise<SetHandle> {
  const names = (await reading(dir, () => readdir(dir))).sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  const startedAt = parseSetName(name);
  return {
    name,
    dir,
    names,
    ...(startedAt === undefined ? {} : { startedAt }),
    read: (file, maxBytes) => readRegular(dir, file, maxBytes ?? SMALL_FILE_BYTES),
    stream: (file, options) => streamRegular(dir, file, options ?? {}),
    size: async (file) => {
      const handle = await openRegular(dir, file);
      try {
        return (await handle.stat()).size;
      } finally {
        await handle.close();
      }
    },
  };
}

async function realDirectory(dir: string): Promise<string> {
  try {
    const real = await realpath(dir);
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemErrorCode(error) ?? ''))
      await reading(dir, () => Promise.reject(error));
  }
  throw new IdkitError('IDKIT_NOT_FOUND', `${dir} is no directory, so no backup set`);
}

/**
 * The same set, held to the checksums that were verified: what is read later is what was judged, even if the directory
 * changes meanwhile. The last bytes of a file are handed on only once all of it has the listed hash, so what is made
 * of a file counts only once it was read to its end. A file that is not listed is not read.
 */
export function pinSet(set: SetHandle, entries: readonly ChecksumEntry[]): SetHandle {
  const hashes = new Map(entries.map(({ name, sha256 }) => [name, sha256]));
  const stream = (name: string, options: WorkOptions = {}) =>
    readPinned(set.stream(name, options), name, hashes.get(name));
  return {
    ...set,
    stream,
    async read(name, maxBytes) {
      const bytes = await set.read(name, maxBytes);
      checkHash(name, createHash('sha256').update(bytes).digest('hex'), hashes.get(name));
      return bytes;
    },
  };
}

async function* readPinned(
  source: AsyncIterable<Buffer>,
  name: string,
  listed: string | undefined,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const chunk of source) {
    hash.update(chunk);
    if (held !== undefined) yield held;
    held = chunk;
  }
  checkHash(name, hash.digest('hex'), listed);
  if (held !== undefined) yield held;
}

function checkHash(name: string, found: string, listed: string | undefined): void {
  if (found === listed) return;
  throw damaged(
    name,
    listed === undefined
      ? `${SET_FILES.checksums} does not list it`
      : 'it is no longer what was verified: something changed it meanwhile',
  );
}
