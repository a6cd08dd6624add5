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
 * Opens a set for reading. The directory can have any name and can be a link. Inside it, only regular files are opened,
 * and links are not followed.
 *
 * @throws IDKIT_NOT_FOUND if the directory does not exist; IDKIT_DAMAGED for a `.partial-…` directory, which is never
 *   a set
 */
export async function openSet(dir: string): Promise<SetHandle> {
  const real = await realDirectory(dir);
  if ([basename(real), basename(resolve(dir))].some((name) => name.startsWith('.partial-')))
    throw damaged(dir, 'it is an unfinished backup, not a set');
  return openDirectory(real);
}

/** Opens a set's working directory under the name that the set will have. */
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
  throw new IdkitError('IDKIT_NOT_FOUND', `${dir} is not a directory, so it is not a backup set`);
}

/**
 * Binds a set to the checksums that were verified, so that later reads return the verified content even if the
 * directory changes in the meantime. The last bytes of a file are passed on only if the whole file has the listed hash.
 * So the caller must not use a file before reading it to its end. A file that is not listed cannot be read.
 *
 * @param mismatch what the error says about a file that does not have the listed hash
 */
export function pinSet(
  set: SetHandle,
  entries: readonly ChecksumEntry[],
  mismatch = 'it has changed since it was verified',
): SetHandle {
  const hashes = new Map(entries.map(({ name, sha256 }) => [name, sha256]));
  const stream = (name: string, options: WorkOptions = {}) =>
    readPinned(set.stream(name, options), name, { listed: hashes.get(name), mismatch });
  return {
    ...set,
    stream,
    async read(name, maxBytes) {
      const bytes = await set.read(name, maxBytes);
      checkHash(name, createHash('sha256').update(bytes).digest('hex'), {
        listed: hashes.get(name),
        mismatch,
      });
      return bytes;
    },
  };
}

interface ExpectedHash {
  listed: string | undefined;
  mismatch: string;
}

async function* readPinned(
  source: AsyncIterable<Buffer>,
  name: string,
  expected: ExpectedHash,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const chunk of source) {
    hash.update(chunk);
    if (held !== undefined) yield held;
    held = chunk;
  }
  checkHash(name, hash.digest('hex'), expected);
  if (held !== undefined) yield held;
}

function checkHash(name: string, actual: string, { listed, mismatch }: ExpectedHash): void {
  if (actual === listed) return;
  throw damaged(name, listed === undefined ? `${SET_FILES.checksums} does not list it` : mismatch);
}
