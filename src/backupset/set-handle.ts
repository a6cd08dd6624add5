import { constants } from 'node:fs';
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { IdkitError, systemErrorCode } from '../core/index.ts';
import type { SetHandle, WorkOptions } from './contract.ts';
import { damaged, reading } from './faults.ts';
import { parseSetName } from './names.ts';

const CHUNK_BYTES = 256 * 1024;
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
    read: (file, maxBytes) => readWhole(dir, file, maxBytes ?? SMALL_FILE_BYTES),
    stream: (file, options) => streamFile(dir, file, options ?? {}),
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

/** Waits for nothing: a FIFO in the place of a file is refused, not opened. */
async function openRegular(dir: string, file: string): Promise<FileHandle> {
  if (file === '' || file === '.' || file === '..' || /[/\0]/.test(file))
    throw damaged(JSON.stringify(file), 'it is no plain file name');
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let handle: FileHandle;
  try {
    handle = await open(`${dir}/${file}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') throw damaged(file, 'it is missing', error);
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EMLINK')
      throw damaged(file, 'it is no regular file', error);
    return reading(file, () => Promise.reject(error));
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw damaged(file, 'it is no regular file');
}

async function readWhole(dir: string, file: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of streamFile(dir, file, {})) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw damaged(file, `it is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* streamFile(dir: string, file: string, options: WorkOptions): AsyncGenerator<Buffer> {
  const handle = await openRegular(dir, file);
  try {
    const total = (await handle.stat()).size;
    for (let done = 0; ; ) {
      options.signal?.throwIfAborted();
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const { bytesRead } = await reading(file, () => handle.read(chunk, 0, CHUNK_BYTES, null));
      if (bytesRead === 0) return;
      done += bytesRead;
      options.onProgress?.(done, total);
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
