import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { IdkitError } from '../../core/index.ts';
import { isConnectionLost, mapFault, oneRow } from '../../postgres/index.ts';
import type { ChangeFeed } from './change-feed.ts';

/** Class of the advisory locks (`idku`). The object id is a hash of the lock's name. */
const TURNS = 0x69646b75;
/** First pause in milliseconds between two attempts to acquire a lock. */
const FIRST_PAUSE_MS = 3;
/** Longest pause in milliseconds between two attempts. */
const LONGEST_PAUSE_MS = 48;
/** Timeout in milliseconds for a lock that another store holds. */
const PATIENCE_MS = 30_000;
/** Timeout in milliseconds for a connection that does not respond. */
const LOST_PATIENCE_MS = 2_000;

/**
 * Limits for locks that the caller waits for with a timeout. They are held briefly but may be numerous, for example if
 * an attacker guesses passwords of thousands of users.
 */
const BOUNDED = {
  longestPauseMs: 12,
  /**
   * Each waiting call lengthens the pauses of all waiting calls by this number of milliseconds. Together they then send
   * at most about a thousand requests a second.
   */
  pauseForEachMs: 1,
  /**
   * Time in milliseconds for which a store that released a lock leaves it to other stores. Otherwise a queue in one
   * process could monopolise the lock.
   */
  yieldMs: 6,
  /**
   * Maximum number of locks that are held in parallel. The server's lock table has room for about 6,400
   * (`max_locks_per_transaction`).
   */
  most: 512,
} as const;

/**
 * The named locks of one store. All of them belong to the feed's connection, so that they cannot exhaust the connection
 * pool.
 */
export class Turns {
  readonly #feed: ChangeFeed;
  readonly #place: string;
  /** Locks that this store released recently and leaves to other stores for now. */
  readonly #yielding = new Map<string, Promise<void>>();
  #boundedHeld = 0;
  #boundedWaiting = 0;

  constructor(feed: ChangeFeed, place: string) {
    this.#feed = feed;
    this.#place = place;
  }

  /**
   * Waits until no other store of the database holds the lock with this name, acquires it, and reads the changes of its
   * earlier holders.
   *
   * @returns a function that releases the lock; the loss of the connection releases it too
   * @throws IDKIT_UNREACHABLE
   */
  async take(name: string): Promise<() => Promise<void>> {
    const lock = lockOf(name);
    const taken = await this.#wait(PATIENCE_MS, {
      attempt: (client) => this.#try(client, lock, true),
      longestPause: () => LONGEST_PAUSE_MS,
    });
    if (taken === undefined)
      throw this.#refusal('did not grant a lock, because another service held it for too long');
    return () => this.#end(taken, lock);
  }

  /**
   * Like `take`, with a timeout in milliseconds. Returns undefined if the lock was not free in time. Does not read the
   * changes of earlier holders, so cached results may be older than the lock.
   *
   * @throws IDKIT_UNREACHABLE
   */
  async takeWithin(name: string, within: number): Promise<(() => Promise<void>) | undefined> {
    const lock = lockOf(name);
    const began = performance.now();
    await this.#yielding.get(name);
    this.#boundedWaiting++;
    const taken = await this.#wait(within - (performance.now() - began), {
      attempt: (client) => this.#tryBounded(client, lock),
      longestPause: () => Math.max(BOUNDED.longestPauseMs, this.#boundedWaiting * BOUNDED.pauseForEachMs),
    }).finally(() => this.#boundedWaiting--);
    if (taken === undefined) return undefined;
    return async () => {
      this.#boundedHeld--;
      const yielded = sleep(BOUNDED.yieldMs).then(() => void this.#yielding.delete(name));
      this.#yielding.set(name, yielded);
      await this.#end(taken, lock);
    };
  }

  /**
   * Tries to acquire a lock until an attempt succeeds, with growing pauses in between.
   *
   * @returns the connection that holds the lock, or undefined after `patience` milliseconds
   */
  async #wait(
    patience: number,
    {
      attempt,
      longestPause,
    }: { attempt: (client: Client) => Promise<boolean | undefined>; longestPause(): number },
  ): Promise<Client | undefined> {
    const until = performance.now() + patience;
    let answeredAt = performance.now();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, longestPause())) {
      const { client } = this.#feed;
      const taken = client === undefined ? undefined : await attempt(client);
      if (taken === true) return client;
      const now = performance.now();
      if (taken === false) answeredAt = now;
      if (now > until && taken === false) return undefined;
      if (now > answeredAt + LOST_PATIENCE_MS) throw this.#refusal('does not respond');
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  #refusal(what: string): IdkitError {
    return new IdkitError('IDKIT_UNREACHABLE', `the database at ${this.#place} ${what}`);
  }

  /**
   * Tries to acquire a lock, unless the store holds `BOUNDED.most` such locks already. A lock counts as held from the
   * time of the request.
   */
  async #tryBounded(client: Client, lock: number[]): Promise<boolean | undefined> {
    if (this.#boundedHeld >= BOUNDED.most) return false;
    this.#boundedHeld++;
    let taken: boolean | undefined;
    try {
      taken = await this.#try(client, lock, false);
    } finally {
      if (taken !== true) this.#boundedHeld--;
    }
    return taken;
  }

  /**
   * Tries to acquire a lock once, without waiting.
   *
   * @param readsChanges whether to also read the changes of other stores
   * @returns whether the lock was acquired, or undefined if the connection is lost; the feed then opens a new one
   */
  async #try(client: Client, lock: number[], readsChanges: boolean): Promise<boolean | undefined> {
    try {
      // Both statements are sent together. The second one sees everything that was committed before the first one
      // acquired its lock.
      const [taken] = await Promise.all([
        client.query<{ taken: boolean }>({
          name: 'turn.take',
          text: 'SELECT pg_try_advisory_lock($1, $2) AS taken',
          values: lock,
        }),
        readsChanges ? this.#feed.read(client) : undefined,
      ]);
      return oneRow(taken).taken;
    } catch (error) {
      if (isConnectionLost(error)) return undefined;
      throw mapFault(error, this.#place);
    }
  }

  async #end(client: Client, lock: number[]): Promise<void> {
    try {
      await client.query({ name: 'turn.end', text: 'SELECT pg_advisory_unlock($1, $2)', values: lock });
    } catch (error) {
      if (!isConnectionLost(error)) throw mapFault(error, this.#place);
    }
  }
}

function lockOf(name: string): number[] {
  return [TURNS, createHash('sha256').update(name).digest().readInt32BE()];
}
