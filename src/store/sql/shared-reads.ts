import type { Answer } from '../schema.ts';
import type { Touched } from '../verbs/touched.ts';

/** A read of one record that is not cached. */
export interface SharedRead<T extends object> {
  /** Reports whether a change can affect the result. */
  isAffectedBy(touched: Touched): boolean;
  read(): Answer<T | undefined>;
  /**
   * Caches the result, and returns the object to use.
   *
   * @param changes the changes that the result may not contain, because they were made during the read
   */
  keep(value: T, changes: readonly Touched[]): T;
  /** Looks the record up again, in the cache first. */
  again(): Answer<T | undefined>;
}

interface Running {
  answer: Promise<unknown>;
  changes: Touched[];
  isAffectedBy(touched: Touched): boolean;
  isLost: boolean;
}

/**
 * Lets callers share a read that has already started. A caller that comes after a change does not get the result of a
 * read that started before it.
 */
export class SharedReads {
  #running = new Map<string, Running>();

  read<T extends object>(key: string, shared: SharedRead<T>): Answer<T | undefined> {
    const running = this.#running.get(key);
    if (running !== undefined) {
      const answer = running.answer as Promise<T | undefined>;
      return running.changes.length === 0 ? answer : answer.then(shared.again, shared.again);
    }
    const answer = shared.read();
    if (!(answer instanceof Promise)) return answer === undefined ? undefined : shared.keep(answer, []);
    const started: Running = {
      answer,
      changes: [],
      isAffectedBy: shared.isAffectedBy,
      isLost: false,
    };
    const kept = answer
      .then((value) => (value === undefined || started.isLost ? value : shared.keep(value, started.changes)))
      .finally(() => {
        if (this.#running.get(key) === started) this.#running.delete(key);
      });
    started.answer = kept;
    this.#running.set(key, started);
    return kept;
  }

  /** Notes a change for all reads that it can affect. */
  change(touched: Touched): void {
    for (const running of this.#running.values())
      if (running.isAffectedBy(touched)) running.changes.push(touched);
  }

  /** Ensures that the results of running reads are neither cached nor shared any longer. */
  lose(): void {
    for (const running of this.#running.values()) running.isLost = true;
    this.#running = new Map();
  }
}
