import { hostname } from 'node:os';
import type { PostgresAddress } from '../config/index.ts';
import { IdkitError, type Random, type Secret, systemRandom } from '../core/index.ts';
import type { PostgresPrograms } from './programs/programs.ts';
import { openPsql, type Psql } from './psql.ts';
import type { ScratchAdministrator } from './scratch-role.ts';

/** What all work on one Postgres database shares. */
export interface PostgresContext {
  psql: Psql;
  /**
   * At a server of a drill's own: makes databases and roles there. What a set brings is loaded, checked and served as
   * the role of `psql`, which may do neither.
   */
  administrator?: Psql;
  programs: PostgresPrograms;
  /** The live database's name. */
  database: string;
  service: 'idkit' | 'keycloak';
  random: Random;
  /** Seconds that pg_dump waits for a table that another session has locked. */
  lockWaitSeconds: number;
  /** Seconds without a byte after which a dump is given up. */
  stallSeconds: number;
  /**
   * Ends what runs at the server under a name. A server that does not answer has nothing running, or ends it itself
   * when it finds the client gone: that is no fault of its own.
   */
  endBackends(applicationName: string): Promise<void>;
}

/** The `application_name` of a restore, by which the server's sessions show it. */
export const RESTORE_NAME = `idkit restore ${hostname()} ${process.pid}`.slice(0, 63);

/** Seconds that pg_dump waits for a table that another session has locked. */
const LOCK_WAIT_SECONDS = 30;
/** Seconds without a byte after which a dump is given up. */
const STALL_SECONDS = 300;

/** How to reach a database. */
export interface ConnectionOptions {
  address: PostgresAddress;
  /** The role's password as it is to be; undefined if libpq finds one by itself. */
  password: Secret | undefined;
  /** Passwords to try if the server refuses `password`: what it may have been before, or may be later. */
  otherPasswords?: readonly Secret[];
  programs: PostgresPrograms;
  service: 'idkit' | 'keycloak';
  /** The server exists for a test alone: this role creates its databases and the roles that a dump names. */
  administrator?: ScratchAdministrator;
  random?: Random;
  /** Default: 30. */
  lockWaitSeconds?: number;
  /** Default: 300. */
  stallSeconds?: number;
}

/** Opens nothing yet: each query starts a psql of its own. */
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
        // A server that does not answer runs nothing for us, or ends it when it finds the client gone.
        if (!(error instanceof IdkitError)) throw error;
      }
    },
  };
  return context;
}
