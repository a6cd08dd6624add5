import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { IdkitError, systemErrorCode } from '../core/index.ts';
import type { SetHandle } from './contract.ts';
import { damaged, reading } from './faults.ts';
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
