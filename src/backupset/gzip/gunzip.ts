import { createGunzip, constants as zlib } from 'node:zlib';
import { systemErrorCode } from '../../core/index.ts';
import { damaged } from '../faults.ts';

const INPUT_AHEAD = 256 * 1024;
const OUTPUT_CHUNK = 128 * 1024;
const OUTPUT_AHEAD = 256 * 1024;

/**
 * Decompresses a gzip file to its end and checks its checksum and length. Several members are read as one stream. Like
 * gzip, it accepts zeros after the last member. Any other data there is damage. When the output ends, the source has
 * been read to its end.
 *
 * @param file the file name in errors
 * @param used called with each chunk that is not needed any more
 * @throws IDKIT_DAMAGED
 */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  file: string,
  used: (chunk: Uint8Array) => void = () => {},
): AsyncGenerator<Buffer> {
  const inflater = createGunzip({
    chunkSize: OUTPUT_CHUNK,
    writableHighWaterMark: INPUT_AHEAD,
    readableHighWaterMark: OUTPUT_AHEAD,
    finishFlush: zlib.Z_FINISH,
  } as Parameters<typeof createGunzip>[0]);
  const feeding = feed(source, inflater, used);
  // The await below reports the rejection, after the output was passed on.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of inflater) yield chunk;
    const fed = await feeding;
    if (fed.bytes === 0) throw damaged(file, 'it is empty');
    if (fed.lastNonZero >= inflater.bytesWritten)
      throw damaged(file, 'there is data after the end of its gzip stream');
  } catch (error) {
    if (isZlibError(error)) throw damaged(file, `its gzip stream is damaged: ${error.message}`, error);
    throw error;
  } finally {
    inflater.destroy();
    await feeding.catch(() => undefined);
  }
}

interface Fed {
  bytes: number;
  /** Returns the offset of the last byte that is not zero, or -1. */
  lastNonZero: number;
}

async function feed(
  source: AsyncIterable<Uint8Array>,
  inflater: ReturnType<typeof createGunzip>,
  used: (chunk: Uint8Array) => void,
): Promise<Fed> {
  const fed: Fed = { bytes: 0, lastNonZero: -1 };
  let wake = () => {};
  for (const event of ['drain', 'close']) inflater.on(event, () => wake());
  try {
    for await (const chunk of source) {
      const last = chunk.findLastIndex((byte) => byte !== 0);
      if (last >= 0) fed.lastNonZero = fed.bytes + last;
      fed.bytes += chunk.length;
      // After the last member, the remaining bytes are only counted.
      if (inflater.destroyed) break;
      if (inflater.readableEnded) continue;
      const room = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!inflater.write(chunk, () => used(chunk)) && !inflater.destroyed) await room;
    }
    inflater.end();
    return fed;
  } catch (error) {
    inflater.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

function isZlibError(error: unknown): error is Error {
  const code = systemErrorCode(error) ?? '';
  return error instanceof Error && /^(Z_|ERR_(BUFFER_TOO_LARGE|TRAILING))/.test(code);
}
