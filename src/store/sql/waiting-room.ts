import { IdkitError } from '../../core/index.ts';

/** Reads of administrators that wait for their turn at most. */
const SEATS = 64;
/** Milliseconds that one of them waits at most. */
const PATIENCE_MS = 10_000;

interface Seat {
  enter(): void;
  leave(error: unknown): void;
}

/**
 * Lets at most `atOnce` pieces of work run and some more wait, in their order. What finds no seat, or waits for too
 * long, is refused, so that callers who never stop asking cost no more than this.
 */
export class WaitingRoom {
  readonly #atOnce: number;
  readonly #seats: number;
  readonly #patience: number;
  readonly #waiting: Seat[] = [];
  #running = 0;

  /** @param limits `patience` in milliseconds */
  constructor(atOnce: number, limits: { seats?: number; patience?: number } = {}) {
    this.#atOnce = atOnce;
    this.#seats = limits.seats ?? SEATS;
    this.#patience = limits.patience ?? PATIENCE_MS;
  }

  /**
   * @param signal ends the waiting of a caller who has gone
   * @throws IDKIT_UNREACHABLE where there is no seat, or the turn does not come in time; errors of `work` as they are
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
          tidy();
          resolve();
        },
        leave: (error) => {
          tidy();
          this.#waiting.splice(this.#waiting.indexOf(seat), 1);
          reject(error);
        },
      };
      const gone = () => seat.leave(signal?.reason);
      const timer = setTimeout(() => seat.leave(refusal()), this.#patience);
      const tidy = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', gone);
      };
      signal?.addEventListener('abort', gone, { once: true });
      this.#waiting.push(seat);
    });
  }
}

function refusal(): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', 'the database is busy with other reads of administrators', {
    hints: ['try again in a moment, with a smaller max or a narrower search'],
  });
}
