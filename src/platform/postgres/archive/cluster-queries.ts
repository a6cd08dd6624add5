import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../../core/index.ts';
import { historyFileName, type Replication } from '../../../pgtools/index.ts';
import { ADVISORY } from '../../../postgres/index.ts';

/** How often, and with which pause in milliseconds, the lock of a connection that was just closed is tried. */
const LOCK_TRIES = 50;
const LOCK_PAUSE_MS = 100;

/** Takes the lock of the archive for this connection. Returns false if another one has it. */
export async function takeLock(connection: Replication): Promise<boolean> {
  const [row] = await connection.query(`SELECT pg_try_advisory_lock(${ADVISORY.archive.join(', ')})`);
  return row?.[0] === 't';
}

/** Waits for the lock, because the server may not have noticed yet that the connection before is closed. */
export async function waitForLock(connection: Replication): Promise<boolean> {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    if (await takeLock(connection)) return true;
    await sleep(LOCK_PAUSE_MS);
  }
  return false;
}

/** Returns the history of a timeline. Without it, no server recovers to the timeline. The first one has none. */
export async function readHistory(connection: Replication, timeline: number): Promise<string | undefined> {
  if (timeline === 1) return undefined;
  const [row] = await connection.query(`TIMELINE_HISTORY ${timeline}`);
  if (row?.[0] !== historyFileName(timeline))
    throw new IdkitError('IDKIT_FAILED', `the server has no history of timeline ${timeline}`);
  return row[1] ?? '';
}

/** Returns the server's time, rounded up to whole milliseconds. */
export async function readClock(connection: Replication): Promise<number> {
  const [row] = await connection.query('SELECT ceil(extract(epoch FROM clock_timestamp()) * 1000)');
  return Number(row?.[0]);
}
