import type { RotationResult } from '../contract.ts';
import { rotate } from '../verbs/sessions.ts';
import type { Verbs } from '../verbs/verbs.ts';
import { Batches } from './batches.ts';
import type { Connections } from './connections.ts';
import { readAgain } from './read-again.ts';
import { prepared } from './run-query.ts';
import { runSteps } from './transactions.ts';
import type { UnansweredRotations } from './unanswered.ts';

type Call = Verbs['rotate']['in'];

/** Rotations of one statement at most. */
const LARGEST = 256;

/**
 * Rotates many families by one statement, which is on the disk when it is answered. What it did not rotate (reuse,
 * families that are gone) goes the verb's full way, in a transaction of its own.
 */
export function openRotations(
  connections: Connections,
  unanswered: UnansweredRotations,
): Batches<Call, RotationResult> {
  return new Batches<Call, RotationResult>({
    largest: LARGEST,
    keyOf: ({ id }) => id,
    run: async (calls) => {
      await unanswered.settle(calls.map(({ id }) => id));
      const rotated = await rotateAll(connections, calls, unanswered);
      return calls.map(async (call): Promise<RotationResult> => {
        if (rotated.has(call.id)) return { outcome: 'rotated' };
        try {
          return (await runSteps(connections, () => rotate(call), {
            isolation: 'serializable',
          })) as RotationResult;
        } catch (error) {
          unanswered.add(call);
          throw error;
        }
      });
    },
  });
}

/**
 * Run again where the connection was lost on the way: a rotation that was done all the same is found by the full way,
 * by the hash that no other call has.
 *
 * @returns ids of the families that were rotated
 */
async function rotateAll(
  connections: Connections,
  calls: readonly Call[],
  unanswered: UnansweredRotations,
): Promise<ReadonlySet<string>> {
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
  let sent = false;
  try {
    const { rows } = await readAgain(connections, (client) => {
      sent = true;
      return client.query<{ id: string }>(query);
    });
    return new Set(rows.map(({ id }) => id));
  } catch (error) {
    if (sent) for (const call of calls) unanswered.add(call);
    throw error;
  }
}
