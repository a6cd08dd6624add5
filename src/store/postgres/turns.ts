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
/** Milliseconds for which a turn waits for those before it, and for a connection that was lost. */
const PATIENCE_MS = 30_000;
const LOST_PATIENCE_MS = 2_000;

/**
 * Waits until no other store of the database has the turn of that name, and has seen by then what those before it
 * changed. All turns of a store are locks of one connection, the feed's, so that no pool can run dry of them.
 *
 * @returns what ends the turn; it also ends with the connection
 * @throws IDKIT_UNREACHABLE
 */
export async function takeTurn(feed: ChangeFeed, name: string, place: string): Promise<() => Promise<void>> {
  const lock = [TURNS, createHash('sha256').update(name).digest().readInt32BE()];
  const until = performance.now() + PATIENCE_MS;
  let heard = performance.now();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const { client } = feed;
    const taken = client === undefined ? undefined : await tryTake(client, feed, lock, place);
    if (taken === true) return () => release(client!, lock, place);
    const now = performance.now();
    if (taken === false) heard = now;
    if (now > until) throw refusal(place, 'gives no turn: another service is at work for too long');
    if (now > heard + LOST_PATIENCE_MS) throw refusal(place, 'does not answer');
    await sleep(pause * (0.5 + Math.random()));
  }
}

function refusal(place: string, what: string): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', `the database at ${place} ${what}`);
}

/** @returns undefined where the connection is lost; the feed makes a new one */
async function tryTake(
  client: Client,
  feed: ChangeFeed,
  lock: number[],
  place: string,
): Promise<boolean | undefined> {
  try {
    // Both travel together; what the second one sees was committed before the first one had its lock.
    const [taken] = await Promise.all([
      client.query<{ taken: boolean }>({
        name: 'turn.take',
        text: 'SELECT pg_try_advisory_lock($1, $2) AS taken',
        values: lock,
      }),
      feed.look(client),
    ]);
    return taken.rows[0]!.taken;
  } catch (error) {
    if (isConnectionLost(error)) return undefined;
    throw mapFault(error, place);
  }
}

async function release(client: Client, lock: number[], place: string): Promise<void> {
  try {
    await client.query({ name: 'turn.end', text: 'SELECT pg_advisory_unlock($1, $2)', values: lock });
  } catch (error) {
    if (!isConnectionLost(error)) throw mapFault(error, place);
  }
}
