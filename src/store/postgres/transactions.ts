import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { Refused } from '../verbs/apply.ts';
import type { Steps } from '../verbs/steps.ts';
import type { Connections } from './connections.ts';
import { isConnectionLost, isLostRace, isStalePlan, mapFault } from './faults.ts';
import { answer } from './run-query.ts';

/** How often a verb is run before its lost races are an error. */
const ATTEMPTS = 40;
/** Milliseconds that the loser of a race waits at most before it tries again, times the attempts it had. */
const PAUSE_MS = 4;

export interface TransactionOptions {
  /**
   * `alone`: each statement is a transaction of its own. Else all stand or fall together; `serializable` as if no
   * other such transaction ran meanwhile.
   */
  isolation: 'alone' | 'read committed' | 'serializable';
  /** Milliseconds that each statement may run, where not as long as all others. */
  statementMilliseconds?: number | undefined;
  /** Statements that belong to the transaction and run before its commit. */
  finish?(client: PoolClient, value: unknown): Promise<void>;
}

/**
 * Runs a verb from its start until it has lost no race. Whoever loses one to another store, or another call of this
 * one, sees what the winner left.
 *
 * @param steps makes the verb's steps anew for each attempt
 * @throws the catalogue's errors; IDKIT_UNREACHABLE also where the connection was lost so late that the verb may be done
 */
export async function runSteps(
  connections: Connections,
  steps: () => Steps<unknown>,
  options: TransactionOptions,
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const progress = { mayBeDone: false };
    try {
      return await connections.use((client) => runOnce(client, steps(), options, progress));
    } catch (error) {
      if (error instanceof Refused) return error.answer;
      const again =
        isLostRace(error) || isStalePlan(error) || (isConnectionLost(error) && !progress.mayBeDone);
      if (!again || attempt >= ATTEMPTS) throw mapFault(error, connections.place);
    }
    await sleep(Math.random() * PAUSE_MS * Math.min(attempt, 10));
  }
}

async function runOnce(
  client: PoolClient,
  steps: Steps<unknown>,
  options: TransactionOptions,
  progress: { mayBeDone: boolean },
): Promise<unknown> {
  if (options.isolation === 'alone') {
    progress.mayBeDone = true;
    return await advance(client, steps);
  }
  // Goes out with the first statement: the connection answers in order.
  const limit = options.statementMilliseconds;
  const begun = client.query(
    `BEGIN ISOLATION LEVEL ${options.isolation.toUpperCase()}${limit === undefined ? '' : `; SET LOCAL statement_timeout = ${limit}`}`,
  );
  begun.catch(() => {});
  try {
    const value = await advance(client, steps);
    await begun;
    await options.finish?.(client, value);
    progress.mayBeDone = true;
    await client.query('COMMIT');
    return value;
  } catch (error) {
    if (!isConnectionLost(error)) await client.query('ROLLBACK');
    throw error;
  }
}

/** Runs a verb to its end on a connection. */
export async function advance<T>(client: PoolClient, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (step.done !== true) step = steps.next(await answer(client, step.value));
  return step.value;
}
