import { Worker } from 'node:worker_threads';
import { IdkitError, ownsMemory, threadModule } from '../../core/index.ts';
import type { DumpReport } from '../contract.ts';
import { gunzip } from '../gzip/gunzip.ts';
import { createDumpInspector } from './inspector.ts';

/** Compressed size in bytes above which a separate thread saves time. */
const LARGE_BYTES = 1 * 1024 * 1024;
/** Maximum number of chunks that wait for the thread. */
const CHUNKS_AHEAD = 4;

/** A chunk of the gzip file, or `end` after the last one. */
export type ToInspection = Uint8Array<ArrayBuffer> | 'end';
export type FromInspection = 'taken' | { report: DumpReport } | { damage: string };

/**
 * Reads and checks the gzip file of a dump to its end. A large file is read in a separate thread, while this thread
 * hashes its bytes. It may take the memory of the chunks.
 *
 * @param name the file name in errors
 * @throws IDKIT_DAMAGED
 */
export async function readSql(name: string, content: AsyncIterable<Uint8Array>): Promise<DumpReport> {
  const iterator = content[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (let bytes = 0; bytes < LARGE_BYTES; ) {
    const { done, value } = await iterator.next();
    if (done === true) return inspect(name, head);
    head.push(value);
    bytes += value.length;
  }
  return inspectInThread(name, head, iterator);
}

async function inspect(name: string, chunks: readonly Uint8Array[]): Promise<DumpReport> {
  const inspector = createDumpInspector();
  for await (const chunk of gunzip(inOrder(chunks), name)) inspector.write(chunk);
  return inspector.end();
}

async function* inOrder(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function inspectInThread(
  name: string,
  head: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): Promise<DumpReport> {
  const worker = new Worker(threadModule(import.meta.url, './inspect-thread'), { workerData: name });
  let ahead = 0;
  let over = false;
  let wake = () => {};
  const report = new Promise<DumpReport>((resolve, reject) => {
    const end = (outcome: () => void) => {
      over = true;
      outcome();
      wake();
    };
    worker.on('message', (message: FromInspection) => {
      if (message === 'taken') {
        ahead -= 1;
        wake();
      } else if ('report' in message) end(() => resolve(message.report));
      else end(() => reject(new IdkitError('IDKIT_DAMAGED', message.damage)));
    });
    worker.on('error', (error) => end(() => reject(error)));
    worker.on('exit', () =>
      end(() => reject(new IdkitError('IDKIT_FAILED', `the thread that reads ${name} ended unexpectedly`))),
    );
  });
  // The await below reports the rejection, unless reading the file fails first.
  report.catch(() => undefined);
  const post = (chunk: Uint8Array) => {
    const own = ownsMemory(chunk) ? chunk : new Uint8Array(chunk);
    ahead += 1;
    worker.postMessage(own satisfies ToInspection, [own.buffer]);
  };
  try {
    for (const chunk of head) post(chunk);
    for (;;) {
      while (ahead >= CHUNKS_AHEAD && !over)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (over) return await report;
      const { done, value } = await rest.next();
      if (done === true) break;
      post(value);
    }
    worker.postMessage('end' satisfies ToInspection);
    return await report;
  } finally {
    await worker.terminate();
  }
}
