import { IdkitError } from '../../core/index.ts';

/** Maximum number of waiting reads of administrators. */
const SEATS = 64;
/** Timeout in milliseconds for a waiting read. */
const PATIENCE_MS = 10_000;

interface Seat {
  enter(): void;
  leave(error: unknown): void;
}

/**
 * Runs at most `atOnce` operations in parallel. A limited number of further operations wait in the order of their
 * arrival. An operation is rejected if the queue is full or it waits too long. This limits the cost of callers that
 * never stop sending requests.
 */
export class WaitingRoom {
  readonly #atOnce: number;
  readonly #seats: number;
  readonly #patience: number;
  readonly #waiting: Seat[] = [];
  #running = 0;

  /** @param limits `seats`: maximum number of waiting operations; `patience`: timeout of the wait in milliseconds */
  constructor(atOnce: number, limits: { seats?: number; patience?: number } = {}) {
    this.#atOnce = atOnce;
    this.#seats = limits.seats ?? SEATS;
    this.#patience = limits.patience ?? PATIENCE_MS;
  }

  /**
   * @param signal ends the wait if the caller disconnects
   * @throws IDKIT_UNREACHABLE if the queue is full or the wait is too long; errors of `work` unchanged
   */
  async use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running >= this.#atOnce) await this.#wait(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next.enter();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= this.#seats) return Promise.reject(refusal());
    return new Promise((resolve, reject) => {
      const seat: Seat = {
        enter: () => {
          cleanUp();
          resolve();
        },
        leave: (error) => {
          cleanUp();
          this.#waiting.splice(this.#waiting.indexOf(seat), 1);
          reject(error);
        },
      };
      const abort = () => seat.leave(signal?.reason);
      const timer = setTimeout(() => seat.leave(refusal()), this.#patience);
      const cleanUp = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(seat);
    });
  }
}

function refusal(): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', 'the database is busy with requests from other administrators', {
    hints: ['retry in a few seconds, with a smaller max or a narrower search'],
  });
}
