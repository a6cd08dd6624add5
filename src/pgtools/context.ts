import { hostname } from 'node:os';
import type { PostgresAddress } from '../config/index.ts';
import { IdkitError, type Random, type Secret, systemRandom } from '../core/index.ts';
import type { PostgresPrograms } from './programs/programs.ts';
import { openPsql, type Psql } from './psql.ts';
import type { ScratchAdministrator } from './scratch-role.ts';

/** What every operation on one Postgres database needs: connections, programs, names and timeouts. */
export interface PostgresContext {
  psql: Psql;
  /**
   * The connection that creates databases and roles on the server of a drill. `psql` connects with another role, which
   * may not do this.
   */
  administrator?: Psql;
  programs: PostgresPrograms;
  /** The name of the live database. */
  database: string;
  service: 'idkit' | 'keycloak';
  random: Random;
  /** Timeout in seconds for pg_dump's wait for a table that another session has locked. */
  lockWaitSeconds: number;
  /** A dump fails if the server sends nothing for this many seconds. */
  stallSeconds: number;
  /**
   * Ends all sessions with this application name. Ignores a server that does not respond: such a server either runs
   * nothing, or ends the session itself when it notices that the client has left.
   */
  endBackends(applicationName: string): Promise<void>;
}

/** The `application_name` of a restore in `pg_stat_activity`. */
export const RESTORE_NAME = `idkit restore ${hostname()} ${process.pid}`.slice(0, 63);

const LOCK_WAIT_SECONDS = 30;
const STALL_SECONDS = 300;

/** A database, and how idkit connects to it. */
export interface ConnectionOptions {
  address: PostgresAddress;
  /** The password that the role has after a restore. If undefined, libpq looks for one itself. */
  password: Secret | undefined;
  /**
   * Passwords to try if the server rejects `password`. A restore changes the role's password, so either one may be
   * valid.
   */
  otherPasswords?: readonly Secret[];
  programs: PostgresPrograms;
  service: 'idkit' | 'keycloak';
  /** Set for the temporary server of a drill. This role creates the databases and the roles that a dump names. */
  administrator?: ScratchAdministrator;
  random?: Random;
  /** Default: 30. */
  lockWaitSeconds?: number;
  /** Default: 300. */
  stallSeconds?: number;
}

/** Returns the context of one database, without connecting. Each query starts its own psql. */
export function openContext(options: ConnectionOptions): PostgresContext {
  const { address, password, otherPasswords = [], programs, service, random = systemRandom } = options;
  const passwords = [password ?? address.password, ...otherPasswords].filter((one) => one !== undefined);
  const psql = openPsql({ address, passwords, programs, random });
  const { administrator } = options;
  const openAs = ({ user, password }: ScratchAdministrator) =>
    openPsql({ address: { ...address, user }, passwords: [password], programs, random });
  const context: PostgresContext = {
    psql,
    ...(administrator === undefined ? {} : { administrator: openAs(administrator) }),
    programs,
    database: address.database,
    service,
    random,
    lockWaitSeconds: options.lockWaitSeconds ?? LOCK_WAIT_SECONDS,
    stallSeconds: options.stallSeconds ?? STALL_SECONDS,
    async endBackends(applicationName) {
      try {
        await psql.terminate(address.database, applicationName);
      } catch (error) {
        // Ignores the error. A server that does not respond runs nothing for idkit, or ends the session when it notices
        // that the client has left.
        if (!(error instanceof IdkitError)) throw error;
      }
    },
  };
  return context;
}
