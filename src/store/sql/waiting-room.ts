import { setTimeout as sleep } from 'node:timers/promises';
import {
  beginWriting,
  type CallerName,
  callerName,
  IdkitError,
  isUrgent,
  unwrittenSignal,
} from '../../core/index.ts';
import { FairQueue, type QueuedJob } from '../../crypto/index.ts';
import type { LaneFigures } from '../contract/index.ts';
import type { RowChange, Verb, Verbs } from '../verbs/verbs.ts';

/** Maximum number of waiting operations of administrators. */
const SEATS = 64;
/** Timeout in milliseconds for a waiting operation. */
const PATIENCE_MS = 10_000;
/** An operation that takes longer than this many milliseconds is slow. */
const SLOW_MS = 100;
/**
 * While urgent work is in progress, a place remains empty after a read for this many times as long as the read took, but
 * at most for `LONGEST_REST_MS` milliseconds. So the reads leave the processors of the service and of the database to
 * logins and tokens most of the time.
 */
const REST = 2;
const LONGEST_REST_MS = 1_000;
/** Maximum number of kinds of operations whose times are remembered. */
export const KINDS = 500;

/** Operations of the same kind take about as long. */
export interface Kind {
  name: string;
  /** How long a search takes depends on the text that its caller searches for. Default: a read. */
  of?: 'search' | 'write';
}

interface Operation {
  kind: Kind;
  caller: CallerName;
}

/** An operation that runs. `since`: time of its start (`performance.now()`). */
interface Running extends Operation {
  since: number;
}

interface Seat extends QueuedJob {
  kind: Kind;
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
 * Limits how many operations of administrators run in parallel. A limited number of further operations wait. The room
 * takes turns between realms, and between the administrators of a realm. An operation is rejected if it waits too long.
 * If the queue is full, it rejects the newest operation of the caller who has most of them. This limits the cost of
 * callers that never stop sending requests.
 *
 * The room remembers how long the operations of each kind took. Operations of a slow kind never take all places, so a
 * short one does not wait for them. The same holds for the searches of one realm, however short they were before.
 *
 * While urgent work is in progress, only one slow read runs at a time, and a read ends later than its query: the caller
 * receives the rows after the rest of the place, so that a list of many pages also rests between its pages.
 */
export class WaitingRoom {
  readonly #limits: Required<RoomLimits>;
  readonly #waiting: FairQueue<Seat>;
  readonly #running = new Set<Running>();
  /** The expected time in milliseconds of each kind, sorted by last use. */
  readonly #times = new Map<string, number>();
  #refused = 0;
  #waited = 0;

  constructor({
    atOnce,
    slowAtOnce = Math.max(1, atOnce - 1),
    seats = SEATS,
    patience = PATIENCE_MS,
  }: RoomLimits) {
    this.#limits = { atOnce, slowAtOnce, seats, patience };
    this.#waiting = new FairQueue({ jobs: seats, bytes: 0, cost: Number.POSITIVE_INFINITY });
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
   * @param options `signal`: ends the wait if the caller disconnects. Default: for the first write of a request, the
   *   signal that its caller has disconnected.
   * @throws IDKIT_UNREACHABLE if the queue is full or the wait is too long; errors of `work` unchanged
   */
  async use<T>(
    work: () => Promise<T>,
    { kind, signal }: { kind: Kind; signal?: AbortSignal | undefined },
  ): Promise<T> {
    const writes = kind.of === 'write';
    const until = writes ? unwrittenSignal() : signal;
    until?.throwIfAborted();
    const operation = { kind, caller: callerName() };
    const one = this.#places()(operation) ? this.#start(operation) : await this.#wait(operation, until);
    try {
      if (writes) beginWriting();
      return await work();
    } finally {
      const took = performance.now() - one.since;
      if (!writes && isUrgent()) await sleep(Math.min(REST * took, LONGEST_REST_MS));
      this.#running.delete(one);
      this.#remember(kind, took);
      this.#admit();
    }
  }

  #start({ kind, caller }: Operation): Running {
    const one = { kind, caller, since: performance.now() };
    this.#running.add(one);
    return one;
  }

  /** Returns a function that decides whether an operation can start now. */
  #places(): (operation: Operation) => boolean {
    const { atOnce } = this.#limits;
    if (this.#running.size >= atOnce) return () => false;
    const now = performance.now();
    const running = [...this.#running];
    const slow = running.filter(({ kind, since }) => this.isSlow(kind) || now - since > SLOW_MS);
    const searches = Map.groupBy(
      running.filter(({ kind }) => kind.of === 'search'),
      ({ caller }) => caller.realm,
    );
    return ({ kind, caller }) => {
      // Two slow reads take two processors of the database, which may have no other for logins and tokens.
      const slowAtOnce = kind.of !== 'write' && isUrgent() ? 1 : this.#limits.slowAtOnce;
      if (this.isSlow(kind) && slow.length >= slowAtOnce) return false;
      return kind.of !== 'search' || (searches.get(caller.realm)?.length ?? 0) < slowAtOnce;
    };
  }

  /** Whether operations of this kind took long recently. A search of an unknown kind counts as slow. */
  isSlow(kind: Kind): boolean {
    return this.#expected(kind) > SLOW_MS;
  }

  /** Returns the time in milliseconds that an operation probably takes. */
  #expected({ name, of }: Kind): number {
    return this.#times.get(name) ?? (of === 'search' ? 2 * SLOW_MS : 0);
  }

  /** A kind that was slow stays slow for a few fast operations, because its time depends on its values. */
  #remember({ name }: Kind, took: number): void {
    const expected = Math.max(took, (this.#times.get(name) ?? 0) / 2);
    this.#times.delete(name);
    this.#times.set(name, expected);
    const [oldest] = this.#times.keys();
    if (this.#times.size > KINDS && oldest !== undefined) this.#times.delete(oldest);
  }

  #admit(): void {
    for (;;) {
      const next = this.#waiting.take(this.#places());
      if (next === undefined) return;
      next.enter(this.#start(next));
    }
  }

  async #wait({ kind, caller }: Operation, signal: AbortSignal | undefined): Promise<Running> {
    const since = performance.now();
    try {
      return await new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          this.#waiting.remove(seat);
        };
        const seat: Seat = {
          kind,
          // An administrator who uses many addresses has no more turns than one who uses one address.
          caller: { ...caller, address: '' },
          cost: 1 + this.#expected(kind),
          bytes: 0,
          since,
          enter: (running) => {
            end();
            resolve(running);
          },
          leave: (error) => {
            end();
            reject(error);
          },
        };
        const refuse = (one: Seat) => {
          this.#refused++;
          one.leave(refusal());
        };
        const abort = () => seat.leave(signal?.reason);
        const timer = setTimeout(() => refuse(seat), this.#limits.patience);
        signal?.addEventListener('abort', abort, { once: true });
        for (const dropped of this.#waiting.add(seat)) refuse(dropped);
      });
    } finally {
      this.#waited += performance.now() - since;
    }
  }
}

/** The parts of a statement that decide how long it takes: its tables, and how it compares. */
const SHAPE = /\b(?:from|join) "?\w+|\b(?:count|exists|instr|json_each|like|limit|match|strpos|sum)\b|@>/g;

/** Returns the kind of a search. It does not depend on the number of words, filters and values. */
export function kindOfSearch(text: string): Kind {
  return { name: [...new Set(text.match(SHAPE))].sort().join(' '), of: 'search' };
}

/** A list of changes with at least this many entries is an import. */
const MANY_CHANGES = 200;

export function kindOfWrite<V extends Verb>(verb: V, input: Verbs[V]['in']): Kind {
  return { name: nameOfWrite(verb, input), of: 'write' };
}

function nameOfWrite<V extends Verb>(verb: V, input: Verbs[V]['in']): string {
  const { query, changes }: { query?: string; changes?: readonly RowChange[] } = Object(input);
  if (changes === undefined) return query ?? verb;
  if (changes.length >= MANY_CHANGES) return 'import';
  const removed = changes.flatMap((change) => (change.do === 'remove' ? [change.table] : []));
  return [verb, ...new Set(removed)].join(' ');
}

/** Kinds of writes that take long if many records depend on the removed one. */
const LONG = /^import$|^apply .*\b(realm|client|role|realm_group)\b|clear/;

/** Whether a write may take long, from its kind. */
export function isLongWrite({ name }: Kind): boolean {
  return LONG.test(name);
}

function refusal(): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', 'the database is busy with requests from other administrators', {
    hints: ['retry in a few seconds, with a smaller max or a narrower search'],
  });
}
