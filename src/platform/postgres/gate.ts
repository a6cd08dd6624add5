import { IdkitError, type Secret } from '../../core/index.ts';
import { literal, type PostgresContext, queryBeside, RESTORE_NAME } from '../../pgtools/index.ts';
import {
  lockPostgres,
  type PostgresLocation,
  type PostgresLock,
  SERVICE_LOCK,
} from '../../postgres/index.ts';

/** Keeps services out of the live database while a restore is at work on it. */
export interface Gate {
  /** It is to be shut, whatever database has the name. */
  readonly isWanted: boolean;
  /** Nobody gets in but this process. */
  readonly isShut: boolean;
  /** Shuts it. @throws IDKIT_SERVICE_RUNNING that names the services that are in */
  shut(): Promise<void>;
  /** Another database has the live one's name now: shuts it as well, where the one before was shut. */
  shutAgain(): Promise<void>;
  /** Idempotent. */
  open(): Promise<void>;
}

/**
 * A gate by the lock of services, which belongs to one database and ends with its session before a swap. Connections
 * are refused by then; the database that gets the name keeps services out by its comment until its own lock is taken.
 */
export function makeGate(location: PostgresLocation, otherPasswords: readonly Secret[]): Gate {
  let lock: PostgresLock | undefined;
  let isWanted = false;
  const release = async () => {
    const held = lock;
    lock = undefined;
    await held?.release();
  };
  const take = async () => {
    await release();
    lock = await findLock(location, otherPasswords);
  };
  return {
    get isWanted() {
      return isWanted;
    },
    get isShut() {
      return isWanted && lock?.isHeld() === true;
    },
    async shut() {
      await take();
      isWanted = true;
    },
    async shutAgain() {
      if (isWanted) await take();
    },
    async open() {
      isWanted = false;
      await release();
    },
  };
}

/** Undefined where there is no database yet, or one that lets nobody in since an earlier swap was cut off. */
async function findLock(
  location: PostgresLocation,
  [other, ...others]: readonly Secret[],
): Promise<PostgresLock | undefined> {
  try {
    return await lockAlone({ ...location, applicationName: RESTORE_NAME });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    if (error.code === 'IDKIT_NOT_FOUND' || error.code === 'IDKIT_LOCKED') return undefined;
    // Before the swap the role has another password than after it.
    if (error.code !== 'IDKIT_CREDENTIALS' || other === undefined) throw error;
    return findLock({ ...location, password: other }, others);
  }
}

/**
 * The lock of services for one alone.
 *
 * @throws IDKIT_SERVICE_RUNNING where a service has it; IDKIT_LOCKED where the database lets nobody in
 */
export async function lockAlone(location: PostgresLocation): Promise<PostgresLock> {
  return lockPostgres(location, 'exclusive').catch((cause: unknown) => {
    if (!(cause instanceof IdkitError) || cause.code !== 'IDKIT_LOCKED' || isShutDatabase(cause)) throw cause;
    throw new IdkitError('IDKIT_SERVICE_RUNNING', cause.message, {
      cause,
      hints: ['stop every idkit serve on this database, on every machine, then try again'],
    });
  });
}

/** By ALTER DATABASE … ALLOW_CONNECTIONS false. */
function isShutDatabase({ cause }: IdkitError): boolean {
  return (cause as { code?: unknown } | undefined)?.code === '55000';
}

/**
 * No idkit service writes to the database, on whatever machine it runs: each holds a shared advisory lock there
 * (contract §3, "Locks").
 *
 * @throws IDKIT_SERVICE_RUNNING that names them as `pg_stat_activity` does
 */
export async function checkUnused(context: PostgresContext): Promise<void> {
  const [lockClass, lockObject] = SERVICE_LOCK;
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('name', coalesce(nullif(a.application_name, ''), 'process ' || l.pid))
       FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
       WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ${lockClass} AND l.objid = ${lockObject}
         AND l.objsubid = 2
         AND l.database = (SELECT oid FROM pg_database WHERE datname = ${literal(context.database)})
         AND a.application_name IS DISTINCT FROM ${literal(RESTORE_NAME)};`,
  );
  const names = [...new Set(rows.map((row) => String(row['name'])))].sort();
  if (names.length === 0) return;
  throw new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `the database ${context.database} of ${context.psql.location} is in use by ${names.join(' and ')}`,
    { hints: ['stop every idkit serve on this database, on every machine, then try again'] },
  );
}
