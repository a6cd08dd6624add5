import type { DumpReport } from '../backupset/index.ts';
import type { Secret } from '../core/index.ts';
import type { RealmCount } from '../pgtools/index.ts';
import type { PlatformParts } from './components.ts';

export type { RealmCount } from '../pgtools/index.ts';

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
  /** What `restore --in-place --confirm` must repeat; absent where a database cannot be replaced in place. */
  databaseName?: string;
}

/** A database loaded beside the live one, to be checked and then swapped in or thrown away. */
export interface SideDatabase {
  /** Counts read back from what was loaded. */
  realms: readonly RealmCount[];
  schemaVersion: number;
  /** Absolute path (embedded) or database name. */
  location: string;
}

/** A database that was loaded and not looked at yet. */
export interface LoadedDatabase {
  /** As `SideDatabase` has it. */
  location: string;
  /** What of the old database could not be given to it, for the operator. */
  notes?: readonly string[];
}

/** Where a database lies, and what is free there. */
export interface DatabaseRoom {
  /** A directory of this machine, or the server, for people. */
  place: string;
  /** `place` is a directory of this machine, whose disk may be that of other directories too. */
  here: boolean;
  /** Bytes, where `here` is false; undefined where it cannot be known from this machine. */
  freeBytes?: number | undefined;
}

/** How a database is put in the live one's place. */
export interface SwapOptions {
  /** The live database is emptied and loaded itself, for want of room: nothing is swapped, and nothing leads back. */
  inPlace?: boolean;
}

/** The service of a platform and the parts around it: how it is found, started and stopped. */
export interface ServiceHalf extends PlatformParts {
  describeService(): Pick<PlatformDescription, 'runtime' | 'service' | 'serviceVersion'>;
  /** The version that the running service tells, where `describeService` cannot know it; undefined where it tells none. */
  askServiceVersion?(): Promise<string | undefined>;
  /** The service's address for this machine, or undefined where no service runs (contract §3, "Finding the service"). */
  baseUrl(): Promise<string | undefined>;
  /** Where the running service's health and metrics are, where that is another port than `baseUrl`'s. */
  managementUrl(): Promise<string | undefined>;
  /** False where only its operator can start it, and it does not run; absent: true. */
  canStart?(): Promise<boolean>;
  /** Starts the service; embedded: within this process, on a random loopback port. */
  start(signal?: AbortSignal): Promise<void>;
  /** Stops what `start` started. Idempotent. */
  stop(): Promise<void>;
  /** Polls `/health/ready`. @throws IDKIT_UNREACHABLE after `timeoutSeconds` */
  waitUntilReady(timeoutSeconds: number, signal?: AbortSignal): Promise<void>;
}

/** Whether services are kept out of the database, for the one service that is let in. */
export interface GateSign {
  isShut(): boolean;
}

/** The database of a platform: dumped while the service goes on, loaded beside the live one, put in place by rename. */
export interface DatabaseHalf {
  describeDatabase(): Pick<PlatformDescription, 'database' | 'databaseLocation' | 'databaseName'>;
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
   * What a dump tells of itself fits this platform: its kind, its schema (an older one is migrated once loaded), what
   * the server must have for it, and the master key. Loads nothing; if `asks` is false, no server is reached.
   * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG, IDKIT_DAMAGED where no key belongs to it
   */
  checkDump(dump: DumpReport, options?: SwapOptions & { asks?: boolean }): Promise<void>;
  /**
   * Loads SQL text into a side database; the live one is untouched, unless `inPlace`.
   * @param options.masterKey undefined where the service seals nothing itself
   * @throws IDKIT_DAMAGED, IDKIT_NO_SPACE
   */
  loadDatabase(
    sql: AsyncIterable<Uint8Array>,
    options: {
      id: string;
      masterKey: Secret | undefined;
      signal: AbortSignal;
      onProgress?: (bytes: number) => void;
    } & SwapOptions,
  ): Promise<LoadedDatabase>;
  /**
   * Integrity, foreign keys, migrations of an older schema, the master key opens it; it gets the statistics that its
   * queries are planned by.
   * @throws IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG
   */
  checkLoaded(
    id: string,
    masterKey: Secret | undefined,
    options?: SwapOptions & { signal?: AbortSignal },
  ): Promise<SideDatabase>;
  /** Puts the side database in place by rename and keeps the old one aside as `.pre-ID`. */
  swapDatabase(id: string, options?: SwapOptions): Promise<void>;
  /**
   * Brings the old database back; harmless where nothing was swapped.
   * @param options.password what the database's role had before; absent where it did not change
   */
  unswapDatabase(id: string, options?: { password?: Secret | undefined }): Promise<void>;
  /** Bytes on the disk that `discardDatabase` without `old` gives back. */
  sideBytes(id: string): Promise<number>;
  /** Removes the side database and, with `old`, what `swapDatabase` kept aside. */
  discardDatabase(id: string, options: { old: boolean }): Promise<void>;
  /** Where a side database will lie. */
  databaseRoom(): Promise<DatabaseRoom>;
  /**
   * The master key of the settings opens what is sealed in the live database; nothing is where nothing ever was.
   * @throws IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG
   */
  checkMasterKey(): Promise<void>;
  /**
   * No service is at work on the database, on whatever machine; absent where the address of a service tells.
   * @throws IDKIT_SERVICE_RUNNING
   */
  checkUnused?(): Promise<void>;
  /**
   * Keeps services out of the live database until it is released, whatever database has its name by then; the service
   * that `start` starts is let in. Absent where no service but the platform's own can reach it.
   * @throws IDKIT_SERVICE_RUNNING
   */
  keepServicesOut?(): Promise<{ release(): Promise<void> }>;
  /** Makes or resets an administrator directly in the store; the new password once. @throws IDKIT_SERVICE_RUNNING */
  recoverAdministrator(username: string): Promise<{ password: Secret }>;
  /** Seals every secret anew. @throws IDKIT_SERVICE_RUNNING */
  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }>;
}

/**
 * One contract: "the platform, running". Everything that differs between platforms is behind it, so that no procedure
 * asks which one it is. A service half and a database half, put together by open.ts.
 */
export interface Platform extends ServiceHalf, DatabaseHalf {
  describe(): PlatformDescription;
}
