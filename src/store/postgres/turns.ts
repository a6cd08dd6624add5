import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { IdkitError } from '../../core/index.ts';
import type { ChangeFeed } from './change-feed.ts';
import { isConnectionLost, mapFault } from './faults.ts';

/** Class of the advisory locks of turns (`idku`); the object is a hash of the turn's name. */
const TURNS = 0x69646b75;
/** Milliseconds between two tries: the first, and at most. */
const FIRST_PAUSE_MS = 3;
const LONGEST_PAUSE_MS = 48;
/** The same at most for a turn with a bound of its own: guesses are short, and the next one is due soon. */
const LONGEST_BOUNDED_PAUSE_MS = 12;
/** Milliseconds for which a store that had a bounded turn leaves it to others: a queue in one process is no monopoly. */
const YIELD_MS = 6;
/** Milliseconds for which a turn waits for those before it, and for a connection that was lost. */
const PATIENCE_MS = 30_000;
const LOST_PATIENCE_MS = 2_000;

/** The turns of one store: locks of one connection, the feed's, so that no pool can run dry of them. */
export class Turns {
  readonly #feed: ChangeFeed;
  readonly #place: string;
  /** Names of bounded turns that this store had just now. */
  readonly #yielding = new Map<string, Promise<void>>();

  constructor(feed: ChangeFeed, place: string) {
    this.#feed = feed;
    this.#place = place;
  }

  /**
   * Waits until no other store of the database has the turn of that name, and has seen by then what those before it
   * changed.
   *
   * @param within milliseconds to wait; absent: as long as an administrator's write may take
   * @returns what ends the turn; it also ends with the connection. Undefined: others had it for all of `within`
   * @throws IDKIT_UNREACHABLE
   */
  async take(name: string, within?: number): Promise<(() => Promise<void>) | undefined> {
    const lock = [TURNS, createHash('sha256').update(name).digest().readInt32BE()];
    const until = performance.now() + (within ?? PATIENCE_MS);
    const longest = within === undefined ? LONGEST_PAUSE_MS : LONGEST_BOUNDED_PAUSE_MS;
    await this.#yielding.get(name);
    let answeredAt = performance.now();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, longest)) {
      const { client } = this.#feed;
      const taken = client === undefined ? undefined : await this.#try(client, lock);
      if (taken === true) return () => this.#end(client!, lock, within === undefined ? undefined : name);
      const now = performance.now();
      if (taken === false) answeredAt = now;
      if (now > answeredAt + LOST_PATIENCE_MS) throw this.#refusal('does not answer');
      if (now > until && taken === false) {
        if (within !== undefined) return undefined;
        throw this.#refusal('gives no turn: another service is at work for too long');
      }
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  #refusal(what: string): IdkitError {
    return new IdkitError('IDKIT_UNREACHABLE', `the database at ${this.#place} ${what}`);
  }

  /** @returns undefined where the connection is lost; the feed makes a new one */
  async #try(client: Client, lock: number[]): Promise<boolean | undefined> {
    try {
      // Both travel together; what the second one sees was committed before the first one had its lock.
      const [taken] = await Promise.all([
        client.query<{ taken: boolean }>({
          name: 'turn.take',
          text: 'SELECT pg_try_advisory_lock($1, $2) AS taken',
          values: lock,
        }),
        this.#feed.look(client),
      ]);
      return taken.rows[0]!.taken;
    } catch (error) {
      if (isConnectionLost(error)) return undefined;
      throw mapFault(error, this.#place);
    }
  }

  async #end(client: Client, lock: number[], bounded: string | undefined): Promise<void> {
    if (bounded !== undefined) {
      const yielded = sleep(YIELD_MS).then(() => void this.#yielding.delete(bounded));
      this.#yielding.set(bounded, yielded);
    }
    try {
      await client.query({ name: 'turn.end', text: 'SELECT pg_advisory_unlock($1, $2)', values: lock });
    } catch (error) {
      if (!isConnectionLost(error)) throw mapFault(error, this.#place);
    }
  }
}
