import { isUnreachable } from '../../postgres/index.ts';

interface Waiting<In, Out> {
  input: In;
  resolve(value: Out): void;
  reject(error: unknown): void;
}

/**
 * Collects calls while a statement is running, and sends them together as the next statement. Calls of one event loop
 * iteration are always sent together. One batch is in flight at a time. At most one call for each key is in progress,
 * and the others wait.
 *
 * If a batch cannot reach the database, the calls that waited for it also fail. Otherwise each of them would wait for
 * its own timeout, and the queue would grow while the database is unavailable.
 */
export class Batches<In, Out> {
  readonly #largest: number;
  readonly #keyOf: ((input: In) => string) | undefined;
  readonly #run: (inputs: readonly In[]) => Promise<readonly Promise<Out>[]>;
  #waiting: Waiting<In, Out>[] = [];
  /** Keys of the calls in progress. */
  readonly #busy = new Set<string>();
  #inFlight = false;
  #planned = false;

  /**
   * @param run returns the results in the order of the inputs, each as a promise; the next batch starts when `run`
   * resolves
   * @param keyOf returns the key of a call; if absent, calls do not wait for each other
   */
  constructor(options: {
    largest: number;
    run: (inputs: readonly In[]) => Promise<readonly Promise<Out>[]>;
    keyOf?: (input: In) => string;
  }) {
    this.#largest = options.largest;
    this.#run = options.run;
    this.#keyOf = options.keyOf;
  }

  call(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#planned || this.#inFlight || this.#waiting.length === 0) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      void this.#sendBatch();
    });
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#inFlight = true;
    const waited = this.#waiting.length;
    try {
      const answers = await this.#run(batch.map(({ input }) => input));
      for (const [index, waiting] of batch.entries())
        answers[index]!.then(waiting.resolve, waiting.reject).finally(() => this.#free(waiting));
    } catch (error) {
      for (const waiting of batch) {
        waiting.reject(error);
        this.#free(waiting);
      }
      if (isUnreachable(error)) for (const waiting of this.#waiting.splice(0, waited)) waiting.reject(error);
    }
    this.#inFlight = false;
    this.#plan();
  }

  /** Removes the next batch from the queue. Skips calls whose key is in progress. */
  #takeBatch(): Waiting<In, Out>[] {
    const keyOf = this.#keyOf;
    if (keyOf === undefined) return this.#waiting.splice(0, this.#largest);
    const batch: Waiting<In, Out>[] = [];
    const rest: Waiting<In, Out>[] = [];
    for (const waiting of this.#waiting) {
      const key = keyOf(waiting.input);
      if (batch.length >= this.#largest || this.#busy.has(key)) rest.push(waiting);
      else {
        this.#busy.add(key);
        batch.push(waiting);
      }
    }
    this.#waiting = rest;
    return batch;
  }

  #free({ input }: Waiting<In, Out>): void {
    if (this.#keyOf === undefined) return;
    this.#busy.delete(this.#keyOf(input));
    this.#plan();
  }
}
