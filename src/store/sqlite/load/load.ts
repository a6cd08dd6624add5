import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { IdkitError, ownsMemory, threadModule } from '../../../core/index.ts';
import { writeFault } from '../../../files/index.ts';
import { type Fault, fromFault } from '../faults.ts';

/** Options to follow the progress of a load and to abort it. */
export interface LoadOptions {
  signal?: AbortSignal;
  /** Called with the number of bytes of SQL loaded so far. */
  onProgress?: (bytes: number) => void;
}

export type ToLoad = { chunk: Uint8Array } | { end: true };
export type FromLoad = { taken: number } | { done: true } | { fault: Fault };

/** Maximum number of bytes that are sent to the thread before it has loaded them. */
const BYTES_AHEAD = 1024 * 1024;
const YOUNG_MEGABYTES = 4;

/**
 * Loads the SQL text of a dump into a new file, in its own thread, and syncs the file to disk. Removes the file if the
 * load fails. It may take the memory of the chunks.
 *
 * @throws IDKIT_DAMAGED for a statement that does not belong in a dump, or for a truncated dump; IDKIT_NO_SPACE;
 * IDKIT_FAILED if the file exists; the signal's reason; errors of `sql`
 */
export async function loadSqlite(
  file: string,
  sql: AsyncIterable<Uint8Array>,
  options: LoadOptions = {},
): Promise<void> {
  options.signal?.throwIfAborted();
  if (existsSync(file)) throw new IdkitError('IDKIT_FAILED', `${file} already exists`);
  await createPrivate(file);
  const worker = new Worker(threadModule(import.meta.url, './load-thread'), {
    workerData: { file },
    // Each statement becomes a string that lives only briefly. A large young generation would only take memory.
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  try {
    await send(worker, sql, options);
    await worker.terminate();
    await sync(file);
    await sync(dirname(file));
  } catch (error) {
    await worker.terminate();
    await rm(file, { force: true });
    throw error;
  }
}

async function createPrivate(file: string): Promise<void> {
  try {
    await (await open(file, 'wx', 0o600)).close();
  } catch (cause) {
    throw writeFault(file, cause);
  }
}

async function send(
  worker: Worker,
  sql: AsyncIterable<Uint8Array>,
  { signal, onProgress }: LoadOptions,
): Promise<void> {
  let ahead = 0;
  let loaded = 0;
  let wake = () => {};
  let finished = false;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
    wake();
  };
  worker.on('message', (message: FromLoad) => {
    if ('fault' in message) return fail(fromFault(message.fault));
    if ('done' in message) finished = true;
    else {
      ahead -= message.taken;
      loaded += message.taken;
      onProgress?.(loaded);
    }
    wake();
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new IdkitError('IDKIT_FAILED', 'the load thread ended unexpectedly')));
  const abort = () => fail(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const until = async (ready: () => boolean) => {
    while (failure === undefined && !ready())
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    if (failure !== undefined) throw failure;
  };
  try {
    for await (const chunk of sql) {
      ahead += chunk.byteLength;
      // The memory is passed on. Copies of the whole dump would stay until garbage collections, which are rare.
      const own = ownsMemory(chunk) ? chunk : new Uint8Array(chunk);
      worker.postMessage({ chunk: own } satisfies ToLoad, [own.buffer]);
      await until(() => ahead < BYTES_AHEAD);
    }
    worker.postMessage({ end: true } satisfies ToLoad);
    await until(() => finished);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
