import type { DumpReport } from '../backupset/index.ts';
import type { Secret } from '../core/index.ts';

/** Realms and user counts as they stand in one snapshot of the database. */
export interface RealmCount {
  realm: string;
  /** Without service accounts, as `GET /admin/realms/{realm}/users/count` counts. */
  users: number;
}

/** What a dump holds; the manifest's database part. */
export interface DumpSummary {
  /** `sqlite` or `postgres`. */
  kind: 'sqlite' | 'postgres';
  /** The database's own version. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** Counted in the dump's own snapshot. */
  realms: readonly RealmCount[];
}

/** What this platform is. */
export interface PlatformDescription {
  runtime: 'embedded' | 'compose';
  service: 'idkit' | 'keycloak';
  serviceVersion: string;
  database: 'sqlite' | 'postgres';
  /** The side of `database` that an operator knows: the file, or host and name. */
  databaseLocation: string;
}

/** A database loaded beside the live one, to be checked and then swapped in or thrown away. */
export interface SideDatabase {
  /** Counts read back from what was loaded. */
  realms: readonly RealmCount[];
  schemaVersion: number;
  /** Absolute path (embedded) or database name. */
  location: string;
}

/**
 * One contract: "the platform, running". Embedded now; compose (docker, podman) later. Everything that differs
 * between them is behind it, so that no procedure asks which one it is.
 */
export interface Runtime {
  describe(): PlatformDescription;
  /** The service's address for this machine, or undefined where no service runs (contract §3, "Finding the service"). */
  baseUrl(): Promise<string | undefined>;
  /** Where the running service's health and metrics are, where that is another port than `baseUrl`'s. */
  managementUrl(): Promise<string | undefined>;
  /** Starts the service; embedded: within this process, on a random loopback port. */
  start(): Promise<void>;
  /** Stops what `start` started. Idempotent. */
  stop(): Promise<void>;
  /** Polls `/health/ready`. @throws IDKIT_UNREACHABLE after `timeoutSeconds` */
  waitUntilReady(timeoutSeconds: number): Promise<void>;
  /**
   * Writes the SQL dump of one consistent snapshot, uncompressed, chunk by chunk, while the service goes on.
   * A chunk may be read only until `write` resolves. `onProgress` gets bytes of SQL written so far.
   */
  dumpDatabase(
    write: (chunk: Uint8Array) => Promise<void>,
    options: { signal: AbortSignal; onProgress?: (bytes: number) => void },
  ): Promise<DumpSummary>;
  /** Realm representations, as `GET /admin/realms/{realm}` gives them, from the snapshot of the last dump. */
  readSnapshot(): Promise<readonly { realm: string; representation: unknown }[]>;
  /**
   * What each realm asks for and the service does not enforce, read from the database whether the service runs or not.
   * @throws IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG
   */
  listUnenforced(): Promise<readonly { realm: string; path: string; what: string; refuses: boolean }[]>;
  /**
   * What a dump tells of itself fits this platform: its kind, its schema (an older one is migrated once loaded), and
   * the master key. Loads nothing.
   * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG, IDKIT_DAMAGED where no key belongs to it
   */
  checkDump(dump: DumpReport): void;
  /** Loads SQL text into a side database; the live one is untouched. @throws IDKIT_DAMAGED, IDKIT_NO_SPACE */
  loadDatabase(
    sql: AsyncIterable<Uint8Array>,
    options: { id: string; masterKey: Secret; signal: AbortSignal; onProgress?: (bytes: number) => void },
  ): Promise<SideDatabase>;
  /** Integrity, foreign keys, migrations of an older schema, the master key opens it. @throws IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG */
  checkLoaded(id: string, masterKey: Secret): Promise<SideDatabase>;
  /** Puts the side database in place by rename and keeps the old one aside as `.pre-ID`. */
  swapDatabase(id: string): Promise<void>;
  /** Brings the old database back; harmless where nothing was swapped. */
  unswapDatabase(id: string): Promise<void>;
  /** Bytes on the disk that `discardDatabase` without `old` gives back. */
  sideBytes(id: string): Promise<number>;
  /** Removes the side database and, with `old`, what `swapDatabase` kept aside. */
  discardDatabase(id: string, options: { old: boolean }): Promise<void>;
  /** Makes or resets an administrator directly in the store; the new password once. @throws IDKIT_SERVICE_RUNNING */
  recoverAdministrator(username: string): Promise<{ password: Secret }>;
  /** Seals every secret anew. @throws IDKIT_SERVICE_RUNNING */
  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }>;
}
