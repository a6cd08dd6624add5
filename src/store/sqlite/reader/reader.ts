import { Worker } from 'node:worker_threads';
import { IdkitError, threadModule } from '../../../core/index.ts';
import { type Fault, fromFault } from '../faults.ts';

export interface ReaderQuestion {
  id: number;
  sql: string;
  values: readonly unknown[];
}

export type ReaderAnswer = { id: number; rows: unknown[] } | { id: number; fault: Fault };

/** Runs slow reads in parallel with the main thread. */
export interface StatementReader {
  /**
   * @typeParam R the rows that the statement returns
   * @param signal ends the statement if the caller disconnects, if the reader can do that
   */
  all<R>(sql: string, values: readonly unknown[], signal?: AbortSignal): Promise<R[]>;
  /** Ends everything that the reader started. */
  close(): Promise<void>;
}

/** Runs slow reads in a thread, which starts with the first read. */
export class Reader implements StatementReader {
  readonly #workerData: { location: string; file: string };
  readonly #waiting = new Map<number, { resolve(rows: unknown[]): void; reject(error: Error): void }>();
  #worker: Worker | undefined;
  #nextId = 1;
  #closed = false;

  constructor(location: string, file: string) {
    this.#workerData = { location, file };
  }

  all<R>(sql: string, values: readonly unknown[]): Promise<R[]> {
    if (this.#closed) return Promise.reject(new IdkitError('IDKIT_FAILED', 'the database is closed'));
    const worker = this.#start();
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve: (rows) => resolve(rows as R[]), reject });
      worker.ref();
      worker.postMessage({ id, sql, values } satisfies ReaderQuestion);
    });
  }

  /** Waits for running reads, then ends the thread. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#waiting.size > 0)
      await Promise.allSettled([new Promise((resolve) => this.#worker?.once('message', resolve))]);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(threadModule(import.meta.url, './reader-thread'), {
      workerData: this.#workerData,
    });
    worker.on('message', (answer: ReaderAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (this.#waiting.size === 0) worker.unref();
      if ('fault' in answer) waiting?.reject(fromFault(answer.fault));
      else waiting?.resolve(answer.rows);
    });
    worker.on('error', (error) => {
      this.#worker = undefined;
      for (const waiting of this.#waiting.values()) waiting.reject(error as Error);
      this.#waiting.clear();
    });
    this.#worker = worker;
    return worker;
  }
}
