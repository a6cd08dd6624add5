import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { Connections } from '../../postgres/driver.ts';
import type { RotationResult } from '../contract/index.ts';
import { rotate } from '../verbs/sessions.ts';
import type { Verbs } from '../verbs/verbs.ts';
import { Batches } from './batches.ts';
import { prepared, rowsOf } from './prepared.ts';
import { readAgain } from './reads.ts';
import { runSteps } from './transactions.ts';
import type { UnansweredRotations } from './unanswered.ts';

type Call = Verbs['rotate']['in'];

/** Rotations of one statement at most. */
const LARGEST = 256;
/** Milliseconds for which a family that somebody else holds is waited for, and between two tries. */
const HELD_MS = 2_000;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 64;
/** Milliseconds in which another store takes back what it could not answer, once the server is there again. */
const TAKEN_BACK_MS = 1_000;

/** What one statement did of its calls, by their families. */
interface Tried {
  rotated: ReadonlySet<string>;
  held: ReadonlySet<string>;
  /** An earlier attempt was sent and not answered: it may be done yet. */
  unsure: boolean;
}

/**
 * Rotates many families by one statement, which is on the disk when it is answered. What it did not rotate (reuse,
 * families that are gone) goes the verb's full way, in a transaction of its own; a family that somebody else holds is
 * tried again, and holds up nobody.
 */
export function openRotations(
  connections: Connections,
  unanswered: UnansweredRotations,
): Batches<Call, RotationResult> {
  const again = new Batches<Call, Tried>({
    largest: LARGEST,
    run: async (calls) => {
      const tried = await rotateAll(connections, calls, unanswered);
      return calls.map(() => Promise.resolve(tried));
    },
  });

  const finish = async (call: Call, first: Tried): Promise<RotationResult> => {
    let tried = first;
    let unsure = tried.unsure;
    try {
      const until = performance.now() + HELD_MS;
      for (
        let pause = FIRST_PAUSE_MS;
        tried.held.has(call.id);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
      ) {
        if (performance.now() > until)
          throw new IdkitError('IDKIT_UNREACHABLE', `the database at ${connections.place} holds a session`);
        await sleep(pause);
        tried = await again.call(call);
        unsure ||= tried.unsure;
      }
      if (tried.rotated.has(call.id)) return { outcome: 'rotated' };
      await unanswered.settle([call.id]);
      // It may be the very token that another store did not get to answer with its successor.
      if (!unsure && connections.isJustBack) await sleep(TAKEN_BACK_MS);
      unsure = true;
      return await runSteps(connections, () => rotate(call), { isolation: 'serializable' });
    } catch (error) {
      if (unsure) unanswered.add(call);
      throw error;
    }
  };

  return new Batches<Call, RotationResult>({
    largest: LARGEST,
    keyOf: ({ id }) => id,
    run: async (calls) => {
      await unanswered.settle(calls.map(({ id }) => id));
      const tried = await rotateAll(connections, calls, unanswered);
      return calls.map((call) => finish(call, tried));
    },
  });
}

/**
 * Run again where the connection was lost on the way: a rotation that was done all the same is found by the full way,
 * by the hash that no other call has.
 */
async function rotateAll(
  connections: Connections,
  calls: readonly Call[],
  unanswered: UnansweredRotations,
): Promise<Tried> {
  // In one order everywhere, so that two stores do not wait for each other's rows.
  const sorted = calls.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  const query = prepared('family.rotateAll', {
    ids: sorted.map(({ id }) => id),
    presented: sorted.map((call) => bytes(call.presented)),
    next: sorted.map((call) => bytes(call.next)),
    now: sorted.map(({ now }) => now),
    single_use: sorted.map((call) => call.single_use),
  });
  let sent = 0;
  try {
    const rows = await readAgain(connections, (client) => {
      sent++;
      return rowsOf(client, query);
    });
    const rotated = new Set(rows.map(({ id }) => id));
    const others = calls.filter(({ id }) => !rotated.has(id)).map(({ id }) => id);
    return { rotated, held: await heldOf(connections, others), unsure: sent > 1 };
  } catch (error) {
    if (sent > 0) for (const call of calls) unanswered.add(call);
    throw error;
  }
}

async function heldOf(connections: Connections, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await readAgain(connections, (client) => rowsOf(client, prepared('family.held', { ids })));
  return new Set(rows.map(({ id }) => id));
}
