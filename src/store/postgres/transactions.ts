import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Connections, Lane } from '../../postgres/driver.ts';
import { isConnectionLost, isLostRace, isStalePlan, mapFault, oneRow } from '../../postgres/index.ts';
import { Refused } from '../verbs/apply.ts';
import type { Steps } from '../verbs/steps.ts';
import { answer } from './prepared.ts';
import { readAgain } from './reads.ts';

/** Maximum number of attempts if a transaction conflicts with others. */
const ATTEMPTS = 40;
/** Maximum pause in milliseconds after the first conflict. It grows with the number of attempts. */
const PAUSE_MS = 4;

/**
 * Maximum number of requests for the outcome of a transaction that is still running although its connection was lost.
 */
const LOOKS = 40;
/** Pause in milliseconds between two of these requests. */
const BETWEEN_LOOKS_MS = 50;
/**
 * Time in milliseconds within which the server reports a statement timeout. After that, the server counts as silent.
 */
const SILENCE_MS = 5_000;
const TRANSACTION_ID = 'SELECT pg_current_xact_id()::text AS id';

export interface TransactionOptions<T> {
  /**
   * `alone`: each statement is its own transaction. `repeatable`: likewise, and the statements can safely run twice.
   * The others run all statements in one transaction. `serializable` also behaves as if no other serializable
   * transaction ran in parallel.
   */
  isolation: 'alone' | 'repeatable' | 'read committed' | 'serializable';
  /** Timeout of each statement in milliseconds. Default: the connection's timeout. */
  statementMilliseconds?: number | undefined;
  /**
   * Whether the transaction fills tables. The server then plans each statement again, because plans for small tables
   * would read whole tables for each row.
   */
  fills?: boolean;
  /** Runs more statements before the transaction's commit. */
  finish?(client: PoolClient, value: T): Promise<void>;
  /** The connections that run the verb. Default: `requests`. */
  lane?: Lane;
  /** Called when the commit is confirmed. */
  committed?(): void;
  /** Converts a refusal into the verb's result. Default: the refusal is thrown. */
  refused?(answer: Refused['answer']): T;
}

/**
 * Runs a verb, and starts again if its transaction conflicts with another one. The next attempt sees what the other
 * transaction wrote.
 *
 * @param steps returns new steps for each attempt
 * @throws the catalogue's errors; IDKIT_UNREACHABLE also if the connection was lost so late that the outcome is unknown
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
      return await connections.use(
        (client) => {
          progress.timeline = connections.serverOf(client)?.timeline;
          return runOnce(client, steps(), options, progress);
        },
        { lane: options.lane ?? 'requests' },
      );
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

/** The progress of one attempt. */
interface Progress<T> {
  /** True if the commit, or the only statement, was sent. */
  mayBeDone: boolean;
  transaction: string | undefined;
  /**
   * The timeline of the server that ran the transaction. After a promotion, another transaction may have the same id.
   */
  timeline: string | undefined;
  /** The result of the verb. It is valid only if the transaction is committed. */
  result: { value: T } | undefined;
}

/**
 * Waits until the server is available again and asks it for the outcome of a transaction whose commit was not
 * confirmed.
 *
 * @throws the catalogue's error for `fault` if the outcome is unknown: the statement was its own transaction, or
 * another server was promoted meanwhile
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
  // Both queries are sent together with the first statement. The connection returns the results in order.
  const begun = client.query(begin.join('; '));
  const named = client.query<{ id: string }>({ name: 'transaction.id', text: TRANSACTION_ID });
  post(sent, begun);
  post(sent, named);
  try {
    const value = await walk(client, steps, sent, limit === undefined ? undefined : limit + SILENCE_MS);
    progress.result = { value };
    // The statements of `finish` are fast and must not inherit the timeout of slow ones.
    if (limit !== undefined) await Promise.all(sent);
    if (options.finish !== undefined) post(sent, options.finish(client, value));
    progress.transaction = oneRow(await named).id;
    progress.mayBeDone = true;
    post(sent, client.query('COMMIT'));
    await Promise.all(sent);
    options.committed?.();
    return value;
  } catch (error) {
    const first = (await Promise.allSettled(sent)).find((result) => result.status === 'rejected');
    const fault: unknown = first?.reason ?? error;
    if (!isConnectionLost(fault)) await client.query('ROLLBACK');
    throw fault;
  }
}

/** Runs all steps of a verb on a connection. */
export async function advance<T>(client: PoolClient, steps: Steps<T>): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const value = await walk(client, steps, sent);
  await Promise.all(sent);
  return value;
}

/**
 * Runs the steps of a verb, and returns its result.
 *
 * @param sent collects the results that nothing awaits yet
 */
async function walk<T>(
  client: PoolClient,
  steps: Steps<T>,
  sent: Promise<unknown>[],
  milliseconds?: number,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const asks = step.value;
    if (!('how' in asks)) {
      step = steps.next(await Promise.all(asks.map((ask) => answer(client, ask, milliseconds))));
    } else if (asks.how === 'send') {
      post(sent, answer(client, asks, milliseconds));
      step = steps.next();
    } else step = steps.next(await answer(client, asks, milliseconds));
  }
  return step.value;
}

/** Adds a statement to those that the caller awaits later. If the statement fails, its error is thrown there. */
function post(sent: Promise<unknown>[], promise: Promise<unknown>): void {
  promise.catch(() => {});
  sent.push(promise);
}
