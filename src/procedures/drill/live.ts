import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DatabaseIdentity, Platform } from '../../platform/index.ts';
import { openPlatform, type Scratch } from '../../platform/open.ts';
import type { LiveEvidence } from './options.ts';

/** The live database, as a drill reads it before and after. */
export interface LiveView {
  /** Absent if it cannot be read; `why` is the reason. */
  identity?: DatabaseIdentity;
  why?: string;
  /** True if the platform's own service was running. It writes to the database while the drill runs. */
  serving: boolean;
}

/** Reads the identity and the state of the live database. A database that cannot be read causes no error. */
export async function viewLive(settings: Settings): Promise<LiveView> {
  try {
    const platform = await openPlatform(settings);
    const identity = await platform.database.identify();
    const serving = (await platform.service.baseUrl()) !== undefined;
    return identity === undefined ? { serving, why: 'its container is stopped' } : { identity, serving };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { serving: false, why: error.message };
  }
}

/**
 * Checks that the database of a drill is not the live one, whichever address, alias or link leads to it.
 *
 * @throws IDKIT_DRILL_LIVE
 */
export function checkApart(
  live: DatabaseIdentity,
  place: DatabaseIdentity,
  scratch: Pick<Scratch, 'administrator'>,
): void {
  if (!isSameServer(live, place)) return;
  // A server that the drill started itself is never the live one. A database on the live server has another name.
  const expected = scratch.administrator === undefined && place.database !== live.database;
  if (expected) return;
  throw new IdkitError(
    'IDKIT_DRILL_LIVE',
    `the drill would restore into the live database: ${live.database} on ${live.server}`,
    { hints: ['set TMPDIR to a directory outside the platform directory'] },
  );
}

function isSameServer(one: DatabaseIdentity, other: DatabaseIdentity): boolean {
  if (one.database === 'none' && other.database === 'none') return false;
  if (one.started !== undefined && one.started === other.started) return true;
  if (one.server === 'unknown' || one.server === 'none') return false;
  // Files on one device are different databases unless they are the same file.
  if (one.server.startsWith('device ')) return one.server === other.server && one.database === other.database;
  return one.server === other.server;
}

/** Checks the place of a drill against the live database. Does nothing if the live one cannot be read. */
export async function checkPlaceApart(
  live: LiveView,
  platform: Platform,
  scratch: Pick<Scratch, 'administrator'>,
): Promise<void> {
  if (live.identity === undefined) return;
  const place = await platform.database.identify();
  if (place !== undefined) checkApart(live.identity, place, scratch);
}

/** Compares the live database before and after the drill. */
export function compareLive(before: LiveView, after: LiveView): LiveEvidence {
  const [one, other] = [before.identity, after.identity];
  if (one === undefined || other === undefined)
    return { outcome: 'not checked', detail: `the live database was not read: ${before.why ?? after.why}` };
  const rows = { before: rowsOf(one), after: rowsOf(other) };
  if (one.server !== other.server || one.database !== other.database)
    return { outcome: 'failed', detail: 'another database is live now than before the drill', ...rows };
  const changed = Object.keys({ ...one.state, ...other.state }).filter(
    (name) => one.state[name] !== other.state[name],
  );
  if (changed.length === 0)
    return {
      outcome: 'passed',
      detail: 'the same database before and after, and nothing was written to it',
      ...rows,
    };
  if (before.serving || after.serving || one.started !== undefined)
    return {
      outcome: 'passed',
      detail: `the same database before and after; its own service changed ${changed.join(', ')} meanwhile`,
      ...rows,
    };
  return {
    outcome: 'failed',
    detail: `the service is stopped, but ${changed.join(', ')} changed during the drill`,
    ...rows,
  };
}

function rowsOf({ server, database, started, state }: DatabaseIdentity): Readonly<Record<string, string>> {
  return { server, database, ...(started === undefined ? {} : { started }), ...state };
}
