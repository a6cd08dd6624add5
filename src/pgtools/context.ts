import { hostname } from 'node:os';
import type { PostgresAddress } from '../config/index.ts';
import { IdkitError, type Random, type Secret, systemRandom } from '../core/index.ts';
import type { PostgresPrograms } from './programs/programs.ts';
import { openPsql, type Psql } from './psql.ts';
import type { ScratchAdministrator } from './scratch-role.ts';

/** The context that all work on one Postgres database shares. */
export interface PostgresContext {
  psql: Psql;
  /**
   * Creates databases and roles at the server of a drill. A set is loaded, checked and served as the role of `psql`,
   * which may do neither.
   */
  administrator?: Psql;
  programs: PostgresPrograms;
  /** The name of the live database. */
  database: string;
  service: 'idkit' | 'keycloak';
  random: Random;
  /** Seconds that pg_dump waits for a table that another session has locked. */
  lockWaitSeconds: number;
  /** Seconds without a byte after which a dump fails. */
  stallSeconds: number;
  /**
   * Ends the sessions of an application name. Ignores a server that does not respond. It runs nothing, or it ends the
   * session itself once it notices that the client has left.
   */
  endBackends(applicationName: string): Promise<void>;
}

/** The `application_name` of a restore in `pg_stat_activity`. */
export const RESTORE_NAME = `idkit restore ${hostname()} ${process.pid}`.slice(0, 63);

/** Seconds that pg_dump waits for a table that another session has locked. */
const LOCK_WAIT_SECONDS = 30;
/** Seconds without a byte after which a dump fails. */
const STALL_SECONDS = 300;

/** How to reach a database. */
export interface ConnectionOptions {
  address: PostgresAddress;
  /** The role's password after the work; undefined if libpq finds one by itself. */
  password: Secret | undefined;
  /** Passwords to try if the server rejects `password`: the one before the work, or the one after it. */
  otherPasswords?: readonly Secret[];
  programs: PostgresPrograms;
  service: 'idkit' | 'keycloak';
  /** Set for a server that exists for a test alone: this role creates its databases and the roles that a dump names. */
  administrator?: ScratchAdministrator;
  random?: Random;
  /** Default: 30. */
  lockWaitSeconds?: number;
  /** Default: 300. */
  stallSeconds?: number;
}

/** Opens nothing yet: each query starts its own psql. */
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
        // A server that does not respond runs nothing for idkit, or ends the session once it notices that the client
        // has left.
        if (!(error instanceof IdkitError)) throw error;
      }
    },
  };
  return context;
}
