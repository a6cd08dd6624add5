// The agreement between the writer and the thread that ships the log. SQLite begins the log again from its start, and so
// overwrites it, with the first write after a checkpoint that copied everything. Only the shipping thread makes
// checkpoints, and it keeps a read transaction open so that this does not happen. To let it happen, it asks the writer
// to rest for a moment, ships the remainder, and ends its read transaction.

/** The number of bytes of the memory that both threads share. */
export const GATE_BYTES = 8;

/** The state of the agreement, in the first number. */
const RUNNING = 0;
const REST_WANTED = 1;
/** The shipping thread has everything, and lets go of the log. The writer must wait for the end of it. */
const LETTING_GO = 2;

/** The writer's state, in the second number. */
const AT_WORK = 0;
const AT_REST = 1;

/** The longest rest of the writer in milliseconds, while the remainder is on its way to the target. */
const LONGEST_REST_MS = 1_500;

/** The writer's side. */
export class WriterGate {
  readonly #shared: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.#shared = new Int32Array(shared);
  }

  /** Rests if the shipping thread wants it. The writer calls it between two transactions. */
  rest(): void {
    const shared = this.#shared;
    if (Atomics.load(shared, 0) !== REST_WANTED) return;
    Atomics.store(shared, 1, AT_REST);
    Atomics.notify(shared, 1);
    Atomics.wait(shared, 0, REST_WANTED, LONGEST_REST_MS);
    // The remainder was not shipped in time: the log stays, and callers wait no longer.
    Atomics.compareExchange(shared, 0, REST_WANTED, RUNNING);
    Atomics.wait(shared, 0, LETTING_GO);
    Atomics.store(shared, 1, AT_WORK);
    Atomics.notify(shared, 1);
  }
}

/** The shipping thread's side. */
export class ShipperGate {
  readonly #shared: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.#shared = new Int32Array(shared);
  }

  /** Asks the writer to rest. Resolves to true when it rests, and to false if it makes no transaction for a while. */
  async askForRest(milliseconds: number): Promise<boolean> {
    // The writer may not have noticed yet that its last rest is over.
    if (Atomics.load(this.#shared, 1) === AT_REST) return false;
    if (Atomics.compareExchange(this.#shared, 0, RUNNING, REST_WANTED) !== RUNNING) return false;
    const waited = Atomics.waitAsync(this.#shared, 1, AT_WORK, milliseconds);
    await waited.value;
    if (Atomics.load(this.#shared, 1) === AT_REST) return true;
    this.giveUp();
    return false;
  }

  /**
   * Runs `work` while the writer rests, if it still does. It may end the read transaction and make a checkpoint.
   *
   * @returns false if the writer went back to work in the meantime
   */
  letGo(work: () => void): boolean {
    if (Atomics.compareExchange(this.#shared, 0, REST_WANTED, LETTING_GO) !== REST_WANTED) return false;
    try {
      work();
      return true;
    } finally {
      this.#resume();
    }
  }

  /** Ends the rest without a checkpoint. */
  giveUp(): void {
    if (Atomics.compareExchange(this.#shared, 0, REST_WANTED, RUNNING) === REST_WANTED)
      Atomics.notify(this.#shared, 0);
  }

  #resume(): void {
    Atomics.store(this.#shared, 0, RUNNING);
    Atomics.notify(this.#shared, 0);
  }
}
