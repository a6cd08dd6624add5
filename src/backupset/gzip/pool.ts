import { Worker } from 'node:worker_threads';
import { threadModule } from '../../core/index.ts';
import type { GzipJob, GzipJobDone } from './block.ts';

/** A compressed block. */
export interface Deflated {
  /** A view into the job's memory, if the output fits there. */
  output: Uint8Array;
  /** The job's memory, which the caller can reuse. */
  memory: ArrayBuffer;
}

interface Waiting {
  resolve(deflated: Deflated): void;
  reject(error: unknown): void;
}

/** A thread handles blocks of memory outside its heap, so a small heap is enough. The default adds 16 MB per thread. */
const YOUNG = { maxYoungGenerationSizeMb: 2 };

/** Threads that compress blocks. They receive the jobs in turn, and jobs can end in any order. */
export class GzipPool {
  readonly #workers: readonly Worker[];
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #failure: unknown;

  constructor(threads: number) {
    this.#workers = Array.from({ length: threads }, () => this.#start());
  }

  #start(): Worker {
    const worker = new Worker(threadModule(import.meta.url, './gzip-thread'), { resourceLimits: YOUNG });
    worker.unref();
    worker.on('message', ({ id, memory, output }: GzipJobDone) => {
      const bytes = 'apart' in output ? output.apart : new Uint8Array(memory, 0, output.bytes);
      this.#waiting.get(id)?.resolve({ output: bytes, memory });
      this.#waiting.delete(id);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('a compression thread ended unexpectedly')));
    return worker;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }

  /** Transfers the job's memory to a thread. The result contains that memory again. */
  deflate(job: Omit<GzipJob, 'id'>): Promise<Deflated> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#next++;
    const worker = this.#workers[id % this.#workers.length]!;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ ...job, id } satisfies GzipJob, [job.memory]);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
