import { Worker } from 'node:worker_threads';
import { threadModule } from '../core/index.ts';
import type { GzipJob, GzipJobDone } from './gzip-thread.ts';

interface Waiting {
  resolve(output: Uint8Array): void;
  reject(error: unknown): void;
}

/** Threads that compress blocks. Jobs are spread in turn and may end in any order. */
export class GzipPool {
  readonly #workers: readonly Worker[];
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #failure: unknown;

  constructor(threads: number) {
    this.#workers = Array.from({ length: threads }, () => this.#start());
  }

  #start(): Worker {
    const worker = new Worker(threadModule(import.meta.url, './gzip-thread'));
    worker.unref();
    worker.on('message', (done: GzipJobDone) => {
      this.#waiting.get(done.id)?.resolve(done.output);
      this.#waiting.delete(done.id);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('a compression thread ended')));
    return worker;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }

  /** The block is moved to the thread: the caller must not touch it again. */
  deflate(job: Omit<GzipJob, 'id'>): Promise<Uint8Array> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#next++;
    const worker = this.#workers[id % this.#workers.length]!;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ ...job, id } satisfies GzipJob, [job.block.buffer]);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
