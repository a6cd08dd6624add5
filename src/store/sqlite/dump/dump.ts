import { Worker } from 'node:worker_threads';
import { IdkitError, threadModule } from '../../../core/index.ts';
import { type Fault, fromFault } from '../faults.ts';
import { hasDatabase, hasLog, readLocation, tidyLog } from '../file.ts';
import type { DatabaseSummary } from '../schema-state.ts';
import { newRing, RingReader } from './chunk-ring.ts';

/** Options to follow and to abort a dump. */
export interface DumpOptions {
  signal?: AbortSignal;
  /** Receives the number of bytes of SQL written so far. */
  onProgress?: (bytes: number) => void;
}

/** The contents of a dump, counted in its own snapshot. */
export type SqliteDump = DatabaseSummary;

/** A chunk is identified by its number in the ring. */
export type FromDump = { chunk: number; length: number } | { summary: DatabaseSummary } | { fault: Fault };

/**
 * Writes one consistent snapshot as SQL text while other processes read and write. One transaction in its own thread
 * reads it, so no writer can make it start over. `write` is awaited chunk by chunk and owns each chunk only until it
 * resolves.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DATABASE_DAMAGED, IDKIT_VERSION, the signal's reason, and errors of `write`
 */
export async function dumpSqlite(
  file: string,
  write: (chunk: Uint8Array) => Promise<void>,
  options: DumpOptions = {},
): Promise<SqliteDump> {
  options.signal?.throwIfAborted();
  if (!hasDatabase(file)) throw new IdkitError('IDKIT_NOT_FOUND', `there is no database ${file}`);
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
    const take = async (chunk: number, length: number) => {
      if (signal?.aborted) return;
      await write(ring.chunk(chunk, length));
      bytes += length;
      onProgress?.(bytes);
      ring.release();
    };
    worker.on('message', (message: FromDump) => {
      if ('chunk' in message) {
        written = written.then(() => take(message.chunk, message.length));
        written.catch(reject);
      } else if ('fault' in message) reject(fromFault(message.fault));
      else {
        ended = true;
        written.then(() => resolve(message.summary), reject);
      }
    });
    worker.on('error', reject);
    worker.on('exit', () => {
      // The thread ends after its last message, perhaps before the last chunk is written.
      if (!ended) reject(new IdkitError('IDKIT_FAILED', 'the dump thread ended unexpectedly'));
    });
  });
}
