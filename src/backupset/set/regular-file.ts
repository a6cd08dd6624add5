import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { systemErrorCode } from '../../core/index.ts';
import type { WorkOptions } from '../contract.ts';
import { damaged, reading } from '../faults.ts';

// Other users may be able to write to a backup root. So idkit reads only regular files there and follows no link.

const CHUNK_BYTES = 256 * 1024;

/** Opens a regular file. Rejects a FIFO or a link in its place, without waiting. @throws IDKIT_DAMAGED */
export async function openRegular(dir: string, file: string): Promise<FileHandle> {
  if (file === '' || file === '.' || file === '..' || /[/\0]/.test(file))
    throw damaged(JSON.stringify(file), 'it is not a plain file name');
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let handle: FileHandle;
  try {
    handle = await open(`${dir}/${file}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') throw damaged(file, 'it is missing', error);
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EMLINK')
      throw damaged(file, 'it is not a regular file', error);
    return reading(file, () => Promise.reject(error));
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw damaged(file, 'it is not a regular file');
}

/** Reads a small file as a whole. @throws IDKIT_DAMAGED if it is missing, not regular or longer than `maxBytes` */
export async function readRegular(dir: string, file: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of streamRegular(dir, file)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw damaged(file, `it is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Streams a file's bytes in order. @throws IDKIT_DAMAGED if it is missing or not regular */
export async function* streamRegular(
  dir: string,
  file: string,
  options: WorkOptions = {},
): AsyncGenerator<Buffer> {
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
