import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { Connections } from '../../postgres/driver.ts';
import { rotate } from '../verbs/sessions.ts';
import type { Verbs } from '../verbs/verbs.ts';
import { Batches } from './batches.ts';
import { prepared, rowsOf } from './prepared.ts';
import { readAgain } from './reads.ts';
import { runSteps } from './transactions.ts';
import type { UnansweredRotations } from './unanswered.ts';

type Call = Verbs['rotate']['in'];
type Result = Verbs['rotate']['out'];

/** Maximum number of rotations in one statement. */
const LARGEST = 256;
/** Timeout in milliseconds for a token family that another transaction has locked. */
const HELD_MS = 2_000;
/** First pause in milliseconds between two attempts to rotate a locked token family. It doubles after each attempt. */
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 64;
/**
 * Time in milliseconds that other stores need to undo their unconfirmed rotations when the server is available again.
 */
const TAKEN_BACK_MS = 1_000;

/** The result of one statement: the ids of the token families that it rotated and of those that were locked. */
interface Attempt {
  rotated: ReadonlySet<string>;
  held: ReadonlySet<string>;
  /** True if an earlier attempt was sent and its result is unknown. It may still take effect. */
  unsure: boolean;
}

/**
 * Rotates many token families with one statement, which is durable when it returns. If a family was not rotated
 * (because of reuse, or because it does not exist), the verb `rotate` runs for it in its own transaction. If another
 * transaction has locked a family, only the rotation of that family is retried. The other families do not wait.
 */
export function openRotations(
  connections: Connections,
  unanswered: UnansweredRotations,
): Batches<Call, Result> {
  const again = new Batches<Call, Attempt>({
    largest: LARGEST,
    run: async (calls) => {
      const attempt = await rotateAll(connections, calls, unanswered);
      return calls.map(() => Promise.resolve(attempt));
    },
  });

  const finish = async (call: Call, first: Attempt): Promise<Result> => {
    let attempt = first;
    let unsure = attempt.unsure;
    try {
      const until = performance.now() + HELD_MS;
      for (
        let pause = FIRST_PAUSE_MS;
        attempt.held.has(call.id);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
      ) {
        if (performance.now() > until)
          throw new IdkitError(
            'IDKIT_UNREACHABLE',
            `a transaction in the database at ${connections.place} locked a session for too long`,
          );
        await sleep(pause);
        attempt = await again.call(call);
        unsure ||= attempt.unsure;
      }
      if (attempt.rotated.has(call.id)) return { outcome: 'rotated' };
      await unanswered.settle([call.id]);
      // Waits, because another store may have rotated this token without reporting the new one to its client, and may
      // be about to undo the rotation.
      if (!unsure && connections.isJustBack) await sleep(TAKEN_BACK_MS);
      unsure = true;
      return await runSteps(connections, () => rotate(call), { isolation: 'serializable' });
    } catch (error) {
      if (unsure) unanswered.add(call);
      throw error;
    }
  };

  return new Batches<Call, Result>({
    largest: LARGEST,
    keyOf: ({ id }) => id,
    run: async (calls) => {
      await unanswered.settle(calls.map(({ id }) => id));
      const attempt = await rotateAll(connections, calls, unanswered);
      return calls.map((call) => finish(call, attempt));
    },
  });
}

/**
 * Rotates many token families, and tries again if the connection was lost. If the lost attempt took effect after all,
 * `rotate` detects this, because no other call knows the hash of the next token.
 */
async function rotateAll(
  connections: Connections,
  calls: readonly Call[],
  unanswered: UnansweredRotations,
): Promise<Attempt> {
  // Every store locks rows in the same order, so that two stores never block each other.
  const sorted = calls.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  const query = prepared('family.rotateAll', {
    ...keysOf(sorted),
    presented: sorted.map((call) => bytes(call.presented)),
    next: sorted.map((call) => bytes(call.next)),
    now: sorted.map(({ now }) => now),
    single_use: sorted.map((call) => call.single_use),
    successor: sorted.map(({ successor }) => (successor === null ? null : bytes(successor))),
  });
  let sent = 0;
  try {
    const rows = await readAgain(connections, (client) => {
      sent++;
      return rowsOf(client, query);
    });
    const rotated = new Set(rows.map(({ id }) => id));
    const others = calls.filter(({ id }) => !rotated.has(id));
    return { rotated, held: await heldOf(connections, others), unsure: sent > 1 };
  } catch (error) {
    if (sent > 0) for (const call of calls) unanswered.add(call);
    throw error;
  }
}

/** Returns the keys of token families as two arrays of the same length. */
function keysOf(calls: readonly Call[]): { session_ids: string[]; ids: string[] } {
  return { session_ids: calls.map((call) => call.session_id), ids: calls.map(({ id }) => id) };
}

async function heldOf(connections: Connections, calls: readonly Call[]): Promise<ReadonlySet<string>> {
  if (calls.length === 0) return new Set();
  const query = prepared('family.held', keysOf(calls));
  const rows = await readAgain(connections, (client) => rowsOf(client, query));
  return new Set(rows.map(({ id }) => id));
}
