import type { Client } from 'pg';
import { IdkitError } from '../core/index.ts';
import { oneRow, POOLER_HINT } from './faults.ts';

/** Number of comparisons, in case other clients of the pooler use its connections in between. */
const ROUNDS = 8;

/**
 * Checks that the connection is a session of its own: either it leads to the server directly, or a pooler reserves a
 * connection of the server for it. It must run before anything changes the session, because another pooler would pass
 * on the change, such as an advisory lock, to a stranger.
 *
 * A pooler in between announces another process id than the server reports. If the pooler does not reserve
 * connections, it assigns one to each query outside a transaction. If it assigns the one that was used last, the second
 * session receives that of the first session. If it assigns n connections in turn, two queries in a row receive different
 * ones, or, with n = 1, both sessions receive the same one. The check only reads.
 *
 * @param options `within`: timeout of each query in milliseconds. `open` opens the second session, if there is a
 *   pooler
 * @throws IDKIT_SETTING if the pooler does not reserve connections
 */
export async function checkSession(
  client: Client,
  { place, within, open }: { place: string; within: number; open: () => Promise<Client> },
): Promise<void> {
  const own = await readPid(client, within);
  if (own === client.processID) return;
  const other = await open();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const theirs = await readPidInTransaction(other, { place, within });
      if (theirs === own) throw refusal(place);
      // With only one query here, each session would always receive the same one of two connections in turn.
      for (let time = 0; time < 2; time++) if ((await readPid(client, within)) !== own) throw refusal(place);
    }
  } finally {
    other.end().catch(() => {});
  }
}

async function readPid(client: Client, within: number): Promise<number> {
  const order = { text: 'SELECT pg_backend_pid() AS pid', query_timeout: within };
  return oneRow(await client.query<{ pid: number }>(order)).pid;
}

/** @throws IDKIT_SETTING if the pooler permits no transactions */
async function readPidInTransaction(
  client: Client,
  { place, within }: { place: string; within: number },
): Promise<number> {
  const begin = { text: 'BEGIN READ ONLY', query_timeout: within };
  try {
    await client.query(begin);
  } catch (error) {
    if (error instanceof Error && /transaction blocks not allowed/.test(error.message)) throw refusal(place);
    throw error;
  }
  const pid = await readPid(client, within);
  await client.query('ROLLBACK');
  return pid;
}

function refusal(place: string): IdkitError {
  return new IdkitError(
    'IDKIT_SETTING',
    `the sessions of the database at ${place} share connections of the server`,
    { hints: [POOLER_HINT] },
  );
}
