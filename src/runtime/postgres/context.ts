import type { Random } from '../../core/index.ts';
import type { PostgresPrograms } from './programs.ts';
import type { Psql } from './psql.ts';

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
