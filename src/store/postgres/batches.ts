import { isUnreachable } from '../../postgres/index.ts';

interface Waiting<In, Out> {
  input: In;
  resolve(value: Out): void;
  reject(error: unknown): void;
}

/**
 * Gathers calls until the statement before them is answered: at least those of one turn of the event loop travel
 * together. One batch is in flight at a time; of one key at most one call is at work, the others wait their turn. Where
 * a batch could not reach the database, those that waited as long as it did are told with it: each in turn would wait
 * anew, and their number grow for as long as the database is away.
 */
export class Batches<In, Out> {
  readonly #largest: number;
  readonly #keyOf: ((input: In) => string) | undefined;
  readonly #run: (inputs: readonly In[]) => Promise<readonly Promise<Out>[]>;
  #waiting: Waiting<In, Out>[] = [];
  /** Keys at work. */
  readonly #busy = new Set<string>();
  #flying = false;
  #planned = false;

  /**
   * @param run answers in the order of the inputs, each when it is ready; the next batch begins once it resolves
   * @param keyOf absent: calls do not stand in each other's way
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
    if (this.#planned || this.#flying || this.#waiting.length === 0) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      void this.#fly();
    });
  }

  async #fly(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#flying = true;
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
    this.#flying = false;
    this.#plan();
  }

  /** Those in front whose keys are free. */
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
