import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { isConnectionLost, isLostRace, isStalePlan, mapFault, oneRow } from '../../postgres/index.ts';
import { Refused } from '../verbs/apply.ts';
import type { Steps } from '../verbs/steps.ts';
import { answer } from './prepared.ts';
import { readAgain } from './reads.ts';

/** How often a verb is run before its lost races are an error. */
const ATTEMPTS = 40;
/** Milliseconds that the loser of a race waits at most before it tries again, times the attempts it had. */
const PAUSE_MS = 4;

/** Looks at a transaction whose connection was lost and that still runs, and the milliseconds between them. */
const LOOKS = 40;
const BETWEEN_LOOKS_MS = 50;
/** Milliseconds after a statement's own limit in which the server tells that it was reached. */
const SILENCE_MS = 5_000;
const TRANSACTION_ID = 'SELECT pg_current_xact_id()::text AS id';

export interface TransactionOptions<T> {
  /**
   * `alone`: each statement is a transaction of its own; `repeatable` also, and it does no harm to run it twice. Else all
   * stand or fall together; `serializable` as if no other such transaction ran meanwhile.
   */
  isolation: 'alone' | 'repeatable' | 'read committed' | 'serializable';
  /** Milliseconds that each statement may run, where not as long as all others. */
  statementMilliseconds?: number | undefined;
  /**
   * The transaction fills tables: plans that were made for them when they were small would read them whole for each row.
   */
  fills?: boolean;
  /** Statements that belong to the transaction and run before its commit. */
  finish?(client: PoolClient, value: T): Promise<void>;
  /** Turns a refusal into the verb's result. Default: it is thrown. */
  refused?(answer: Refused['answer']): T;
}

/**
 * Runs a verb from its start until it has lost no race. Whoever loses one to another store, or another call of this
 * one, sees what the winner left.
 *
 * @param steps makes the verb's steps anew for each attempt
 * @throws the catalogue's errors; IDKIT_UNREACHABLE also where the connection was lost so late that nobody knows whether
 *   it is done
 */
export async function runSteps<T>(
  connections: Connections,
  steps: () => Steps<T>,
  options: TransactionOptions<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const progress: Progress<T> = {
      mayBeDone: false,
      transaction: undefined,
      timeline: undefined,
      result: undefined,
    };
    try {
      return await connections.use((client) => {
        progress.timeline = connections.serverOf(client)?.timeline;
        return runOnce(client, steps(), options, progress);
      });
    } catch (error) {
      if (error instanceof Refused && options.refused !== undefined) return options.refused(error.answer);
      if (isConnectionLost(error) && progress.mayBeDone && options.isolation !== 'repeatable') {
        const isDone = await wasCommitted(connections, progress, error);
        if (isDone && progress.result !== undefined) return progress.result.value;
      }
      const again = isLostRace(error) || isStalePlan(error) || isConnectionLost(error);
      if (!again || attempt >= ATTEMPTS) throw mapFault(error, connections.place);
    }
    await sleep(Math.random() * PAUSE_MS * Math.min(attempt, 10));
  }
}

/** How far one attempt came. */
interface Progress<T> {
  /** The end of the transaction was sent, or its one statement. */
  mayBeDone: boolean;
  transaction: string | undefined;
  /** Of the server that ran it: the number of the transaction may be another's on a server that was promoted since. */
  timeline: string | undefined;
  /** What the verb answers where it is done. */
  result: { value: T } | undefined;
}

/**
 * Asks the server, once it is there again, what became of a transaction whose end was not answered.
 *
 * @throws the catalogue's error for `fault` where nobody can know: a statement that was a transaction of its own, or
 *   another server that was promoted since
 */
async function wasCommitted(
  connections: Connections,
  progress: Progress<unknown>,
  fault: unknown,
): Promise<boolean> {
  const { transaction, timeline } = progress;
  if (transaction === undefined) throw mapFault(fault, connections.place);
  for (let look = 0; look < LOOKS; look++) {
    const result = await readAgain(connections, (client) => {
      if (connections.serverOf(client)?.timeline !== timeline) throw mapFault(fault, connections.place);
      return client.query<{ status: string | null }>('SELECT pg_xact_status($1::text::xid8) AS status', [
        transaction,
      ]);
    });
    const { status } = oneRow(result);
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    await sleep(BETWEEN_LOOKS_MS);
  }
  throw mapFault(fault, connections.place);
}

async function runOnce<T>(
  client: PoolClient,
  steps: Steps<T>,
  options: TransactionOptions<T>,
  progress: Progress<T>,
): Promise<T> {
  if (options.isolation === 'alone' || options.isolation === 'repeatable') {
    progress.mayBeDone = true;
    return await advance(client, steps);
  }
  const limit = options.statementMilliseconds;
  const begin = [
    `BEGIN ISOLATION LEVEL ${options.isolation.toUpperCase()}`,
    ...(limit === undefined ? [] : [`SET LOCAL statement_timeout = ${limit}`]),
    ...(options.fills === true
      ? ['SET LOCAL plan_cache_mode = force_custom_plan', 'SET LOCAL enable_seqscan = off']
      : []),
  ];
  const sent: Promise<unknown>[] = [];
  // Goes out with the first statement, and the end with the last one: the connection answers in order.
  const begun = client.query(begin.join('; '));
  const named = client.query<{ id: string }>({ name: 'transaction.id', text: TRANSACTION_ID });
  post(sent, begun);
  post(sent, named);
  try {
    const value = await walk(client, steps, sent, limit === undefined ? undefined : limit + SILENCE_MS);
    progress.result = { value };
    // What follows is quick, and is not to be waited for as long as what may be slow.
    if (limit !== undefined) await Promise.all(sent);
    if (options.finish !== undefined) post(sent, options.finish(client, value));
    progress.transaction = oneRow(await named).id;
    progress.mayBeDone = true;
    post(sent, client.query('COMMIT'));
    await Promise.all(sent);
    return value;
  } catch (error) {
    const first = (await Promise.allSettled(sent)).find((result) => result.status === 'rejected');
    const fault: unknown = first?.reason ?? error;
    if (!isConnectionLost(fault)) await client.query('ROLLBACK');
    throw fault;
  }
}

/** Runs a verb to its end on a connection. */
export async function advance<T>(client: PoolClient, steps: Steps<T>): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const value = await walk(client, steps, sent);
  await Promise.all(sent);
  return value;
}

/** @param sent what nobody has waited for yet is added to it */
async function walk<T>(
  client: PoolClient,
  steps: Steps<T>,
  sent: Promise<unknown>[],
  milliseconds?: number,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const asked = step.value;
    if (!('how' in asked)) {
      step = steps.next(await Promise.all(asked.map((ask) => answer(client, ask, milliseconds))));
    } else if (asked.how === 'send') {
      post(sent, answer(client, asked, milliseconds));
      step = steps.next();
    } else step = steps.next(await answer(client, asked, milliseconds));
  }
  return step.value;
}

/** Its fault is met later, where all that was sent is waited for. */
function post(sent: Promise<unknown>[], promise: Promise<unknown>): void {
  promise.catch(() => {});
  sent.push(promise);
}
