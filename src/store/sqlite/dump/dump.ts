import { Worker } from 'node:worker_threads';
import { IdkitError, threadModule } from '../../../core/index.ts';
import { type Fault, fromFault } from '../faults.ts';
import { hasDatabase, hasLog, readLocation, tidyLog } from '../file.ts';
import type { DatabaseSummary } from '../schema-state.ts';
import { newRing, RingReader } from './chunk-ring.ts';

/** Options to follow the progress of a dump and to abort it. */
export interface DumpOptions {
  signal?: AbortSignal;
  /** Called with the number of bytes of SQL written so far, and with an estimate of their total. */
  onProgress?: (bytes: number, total?: number) => void;
}

/** The contents of a dump, counted in the snapshot of the dump. */
export type SqliteDump = DatabaseSummary;

/**
 * A message from the dump thread. `chunk` is the number of a chunk in the ring, `share` the written part of all rows, from
 * 0 to 1.
 */
export type FromDump =
  | { chunk: number; length: number; share: number }
  | { summary: DatabaseSummary }
  | { fault: Fault };

/**
 * Writes a consistent snapshot of the database as SQL text while other processes read and write. A single transaction
 * in its own thread reads the snapshot, so concurrent writes never restart it. `write` is awaited for each chunk and
 * must not use the chunk afterwards.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DATABASE_DAMAGED, IDKIT_VERSION, the signal's reason, and errors of `write`
 */
export async function dumpSqlite(
  file: string,
  write: (chunk: Uint8Array) => Promise<void>,
  options: DumpOptions = {},
): Promise<SqliteDump> {
  options.signal?.throwIfAborted();
  if (!hasDatabase(file)) throw new IdkitError('IDKIT_NOT_FOUND', `the database ${file} does not exist`);
  const logged = hasLog(file);
  const ring = newRing();
  const worker = new Worker(threadModule(import.meta.url, './dump-thread'), {
    workerData: { file, location: readLocation(file), ring },
  });
  try {
    return await receive(worker, new RingReader(ring), write, options);
  } finally {
    await worker.terminate();
    if (!logged) tidyLog(file);
  }
}

function receive(
  worker: Worker,
  ring: RingReader,
  write: (chunk: Uint8Array) => Promise<void>,
  { signal, onProgress }: DumpOptions,
): Promise<DatabaseSummary> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    let ended = false;
    let written: Promise<void> = Promise.resolve();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const take = async ({ chunk, length, share }: { chunk: number; length: number; share: number }) => {
      if (signal?.aborted) return;
      await write(ring.chunk(chunk, length));
      bytes += length;
      onProgress?.(bytes, share === 0 ? undefined : Math.round(bytes / share));
      ring.release();
    };
    worker.on('message', (message: FromDump) => {
      if ('chunk' in message) {
        written = written.then(() => take(message));
        written.catch(reject);
      } else if ('fault' in message) reject(fromFault(message.fault));
      else {
        ended = true;
        written.then(() => resolve(message.summary), reject);
      }
    });
    worker.on('error', reject);
    worker.on('exit', () => {
      // The thread ends after its last message, perhaps before the last chunk has been written.
      if (!ended) reject(new IdkitError('IDKIT_FAILED', 'the dump thread ended unexpectedly'));
    });
  });
}
