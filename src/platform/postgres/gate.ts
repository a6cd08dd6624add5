import { IdkitError, type Secret } from '../../core/index.ts';
import { literal, type PostgresContext, queryBeside, RESTORE_NAME } from '../../pgtools/index.ts';
import {
  lockPostgres,
  type PostgresLocation,
  type PostgresLock,
  SERVICE_LOCK,
} from '../../postgres/index.ts';

/**
 * Keeps services out of the live database during a restore by holding the service lock. The lock belongs to one
 * database, and the session that holds it ends before a swap. During the swap, the server refuses connections.
 * Afterwards, a mark in the comment of the new live database keeps services out until the gate has locked it.
 */
export class Gate {
  readonly #location: PostgresLocation;
  readonly #otherPasswords: readonly Secret[];
  #lock: PostgresLock | undefined;
  #isWanted = false;

  constructor(location: PostgresLocation, otherPasswords: readonly Secret[]) {
    this.#location = location;
    this.#otherPasswords = otherPasswords;
  }

  /** Whether services must be kept out, whichever database is live. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Whether only this process may use the database. */
  get isShut(): boolean {
    return this.#isWanted && this.#lock?.isHeld() === true;
  }

  /**
   * Locks the live database, so that services stay out until `open`.
   *
   * @throws IDKIT_SERVICE_RUNNING with the names of the services that use the database
   */
  async shut(): Promise<void> {
    await this.#take();
    this.#isWanted = true;
  }

  /** Locks the database that is live after a swap, if the previous one was locked. */
  async shutAgain(): Promise<void> {
    if (this.#isWanted) await this.#take();
  }

  /** Lets services use the database again. Idempotent. */
  async open(): Promise<void> {
    this.#isWanted = false;
    await this.#release();
  }

  async #take(): Promise<void> {
    await this.#release();
    this.#lock = await findLock(this.#location, this.#otherPasswords);
  }

  async #release(): Promise<void> {
    const held = this.#lock;
    this.#lock = undefined;
    await held?.release();
  }
}

/**
 * Takes the lock. Returns undefined if the database does not exist yet, or if it refuses connections after an
 * interrupted swap.
 */
async function findLock(
  location: PostgresLocation,
  [other, ...others]: readonly Secret[],
): Promise<PostgresLock | undefined> {
  try {
    return await lockAlone({ ...location, applicationName: RESTORE_NAME });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    if (error.code === 'IDKIT_NOT_FOUND' || error.code === 'IDKIT_LOCKED') return undefined;
    // The swap may have changed the role's password.
    if (error.code !== 'IDKIT_CREDENTIALS' || other === undefined) throw error;
    return findLock({ ...location, password: other }, others);
  }
}

/**
 * Takes the service lock exclusively.
 *
 * @throws IDKIT_SERVICE_RUNNING if a service holds it; IDKIT_LOCKED if the database refuses connections
 */
export async function lockAlone(location: PostgresLocation): Promise<PostgresLock> {
  return lockPostgres(location, 'exclusive').catch((cause: unknown) => {
    if (!(cause instanceof IdkitError) || cause.code !== 'IDKIT_LOCKED' || refusesConnections(cause))
      throw cause;
    throw new IdkitError('IDKIT_SERVICE_RUNNING', cause.message, {
      cause,
      hints: ['stop every idkit serve on this database, on every machine, then try again'],
    });
  });
}

/** Returns whether the database refuses connections (ALTER DATABASE … ALLOW_CONNECTIONS false). */
function refusesConnections({ cause }: IdkitError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === '55000';
}

/**
 * Checks that no idkit service on any machine is using the database. Each service holds a shared advisory lock in it.
 *
 * @throws IDKIT_SERVICE_RUNNING with the application names of `pg_stat_activity`
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
    `the database ${context.database} at ${context.psql.location} is in use by ${names.join(' and ')}`,
    { hints: ['stop every idkit serve on this database, on every machine, then try again'] },
  );
}
