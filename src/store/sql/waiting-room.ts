import { IdkitError } from '../../core/index.ts';
import type { LaneFigures } from '../contract/index.ts';
import type { RowChange, Verb, Verbs } from '../verbs/verbs.ts';

/** Maximum number of waiting operations of administrators. */
const SEATS = 64;
/** Timeout in milliseconds for a waiting operation. */
const PATIENCE_MS = 10_000;
/** An operation that takes longer than this many milliseconds is slow. */
const SLOW_MS = 100;
/** Maximum number of kinds of operations whose times are remembered. */
const KINDS = 500;

/** An operation that runs. `since`: time of its start (`performance.now()`). */
interface Running {
  kind: string;
  since: number;
}

interface Seat {
  kind: string;
  enter(running: Running): void;
  leave(error: unknown): void;
}

export interface RoomLimits {
  /** Maximum number of operations that run in parallel. */
  atOnce: number;
  /** Maximum number of slow operations among them, so that a short one finds a place. Default: all but one. */
  slowAtOnce?: number;
  /** Maximum number of waiting operations. Default: 64. */
  seats?: number;
  /** Timeout of the wait in milliseconds. Default: 10,000. */
  patience?: number;
}

/**
 * Limits how many operations of administrators run in parallel. A limited number of further operations wait in the
 * order of their arrival. An operation is rejected if the queue is full or it waits too long. This limits the cost of
 * callers that never stop sending requests.
 *
 * The room remembers how long the operations of each kind took. Operations of a slow kind never take all places, so a
 * short one does not wait for them.
 */
export class WaitingRoom {
  readonly #limits: Required<RoomLimits>;
  readonly #waiting: Seat[] = [];
  readonly #running = new Set<Running>();
  /** The expected time in milliseconds of each kind, sorted by last use. */
  readonly #times = new Map<string, number>();
  #refused = 0;
  #waited = 0;

  constructor({ atOnce, slowAtOnce = Math.max(1, atOnce - 1), seats, patience }: RoomLimits) {
    this.#limits = { atOnce, slowAtOnce, seats: seats ?? SEATS, patience: patience ?? PATIENCE_MS };
  }

  get figures(): LaneFigures {
    return {
      inUse: this.#running.size,
      waiting: this.#waiting.length,
      refused: this.#refused,
      waitedSeconds: this.#waited / 1000,
    };
  }

  /**
   * @param options `kind`: name of the kind, for example the text of the statement; `signal`: ends the wait if the
   *   caller disconnects
   * @throws IDKIT_UNREACHABLE if the queue is full or the wait is too long; errors of `work` unchanged
   */
  async use<T>(
    work: () => Promise<T>,
    { kind = '', signal }: { kind?: string; signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    const one = this.#hasPlace(kind) ? this.#start(kind) : await this.#wait(kind, signal);
    try {
      return await work();
    } finally {
      this.#running.delete(one);
      this.#remember(kind, performance.now() - one.since);
      this.#admit();
    }
  }

  #start(kind: string): Running {
    const one = { kind, since: performance.now() };
    this.#running.add(one);
    return one;
  }

  #hasPlace(kind: string): boolean {
    const { atOnce, slowAtOnce } = this.#limits;
    if (this.#running.size >= atOnce) return false;
    if (!this.isSlow(kind)) return true;
    const now = performance.now();
    let slow = 0;
    for (const one of this.#running) if (this.isSlow(one.kind) || now - one.since > SLOW_MS) slow++;
    return slow < slowAtOnce;
  }

  /** Whether operations of this kind took long recently. */
  isSlow(kind: string): boolean {
    return (this.#times.get(kind) ?? 0) > SLOW_MS;
  }

  /** A kind that was slow stays slow for a few fast operations, because its time depends on its values. */
  #remember(kind: string, took: number): void {
    const expected = Math.max(took, (this.#times.get(kind) ?? 0) / 2);
    this.#times.delete(kind);
    this.#times.set(kind, expected);
    const [oldest] = this.#times.keys();
    if (this.#times.size > KINDS && oldest !== undefined) this.#times.delete(oldest);
  }

  #admit(): void {
    for (;;) {
      const next = this.#waiting.find((seat) => this.#hasPlace(seat.kind));
      if (next === undefined) return;
      next.enter(this.#start(next.kind));
    }
  }

  async #wait(kind: string, signal: AbortSignal | undefined): Promise<Running> {
    const { seats, patience } = this.#limits;
    if (this.#waiting.length >= seats) {
      this.#refused++;
      throw refusal();
    }
    const since = performance.now();
    try {
      return await new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          this.#waiting.splice(this.#waiting.indexOf(seat), 1);
        };
        const seat: Seat = {
          kind,
          enter: (running) => {
            end();
            resolve(running);
          },
          leave: (error) => {
            end();
            reject(error);
          },
        };
        const abort = () => seat.leave(signal?.reason);
        const timer = setTimeout(() => {
          this.#refused++;
          seat.leave(refusal());
        }, patience);
        signal?.addEventListener('abort', abort, { once: true });
        this.#waiting.push(seat);
      });
    } finally {
      this.#waited += performance.now() - since;
    }
  }
}

/** A list of changes with at least this many entries is an import. */
const MANY_CHANGES = 200;

/** Returns the kind of a write. Writes of the same kind take about as long. */
export function kindOfWrite<V extends Verb>(verb: V, input: Verbs[V]['in']): string {
  const { query, changes }: { query?: string; changes?: readonly RowChange[] } = Object(input);
  if (changes === undefined) return query ?? verb;
  if (changes.length >= MANY_CHANGES) return 'import';
  const removed = changes.flatMap((change) => (change.do === 'remove' ? [change.table] : []));
  return [verb, ...new Set(removed)].join(' ');
}

/** Kinds of writes that take long if many records depend on the removed one. */
const LONG = /^import$|^apply .*\b(realm|client|role|realm_group)\b|clear/;

/** Whether a write may take long, from its kind. */
export function isLongWrite(kind: string): boolean {
  return LONG.test(kind);
}

function refusal(): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', 'the database is busy with requests from other administrators', {
    hints: ['retry in a few seconds, with a smaller max or a narrower search'],
  });
}
