import type { Moment } from '../archive/index.ts';
import type { DumpReport } from '../backupset/index.ts';
import type { Settings } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import type { RealmCount } from '../pgtools/index.ts';

export type { Moment } from '../archive/index.ts';
export type { RealmCount } from '../pgtools/index.ts';

/** Facts about a dump, which the manifest records. */
export interface DumpSummary {
  kind: 'sqlite' | 'postgres';
  /** The version of SQLite, or of the Postgres server. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** Number of users per realm, counted in the snapshot of the dump. */
  realms: readonly RealmCount[];
}

/** The kind and version of a platform's service. */
export interface ServiceInfo {
  runtime: 'embedded' | 'compose';
  service: 'idkit' | 'keycloak';
  /** `unknown` for Keycloak, whose version only the running service knows; see `readVersion`. */
  serviceVersion: string;
}

/** The kind and location of a platform's database. */
export interface DatabaseInfo {
  database: 'sqlite' | 'postgres';
  /** The path of the file, or the address without its password. */
  databaseLocation: string;
  /** The name that `restore --in-place --confirm` must repeat. Absent if the database cannot be replaced in place. */
  databaseName?: string;
}

export interface PlatformInfo extends ServiceInfo, DatabaseInfo {}

/** The roles of components. Components start in this order and stop in reverse order. */
export const COMPONENT_ROLES = ['database', 'service', 'proxy', 'application'] as const;

export type ComponentRole = (typeof COMPONENT_ROLES)[number];

/**
 * Returns the timeout in seconds for the start of a component. At its first start, Keycloak also builds itself and
 * creates its tables, which takes two minutes on a busy machine.
 */
export function startSeconds({ service }: Pick<Settings, 'service'>): number {
  return service === 'keycloak' ? 240 : 120;
}

/** A part of the platform with its own process: a container, or Keycloak. */
export interface Component {
  name: string;
  role: ComponentRole;
  /** The image and its tag, as written in the definition. */
  image: string;
  /**
   * The state that the engine reports (`running`, `restarting`, `exited` …), or `absent` if the component does not
   * exist.
   */
  state: string;
  health: 'UP' | 'DOWN';
  /** Number of times that the engine has restarted the component. */
  restarts: number;
  /** Why the component is DOWN. */
  detail?: string;
}

export interface StartOptions {
  signal: AbortSignal;
  /** Timeout in seconds for each component to become UP. */
  timeoutSeconds: number;
  /** The directory of the definition, if a restore has not moved it to the platform directory yet. */
  definition?: string;
  /** Receives a message if the engine must fetch the image first, which makes the start slow. */
  note?: (message: string) => void;
}

/** A loaded database that has been checked but is not live yet. */
export interface StagedDatabase {
  /** Number of users per realm, counted in the loaded database. */
  realms: readonly RealmCount[];
  schemaVersion: number;
  /** The absolute path of the file, or the name of the database. */
  location: string;
}

/** A moment in the archive, and what must be read to restore it. A resumed restore uses the same one. */
export interface FoundMoment {
  chain: string;
  base: number;
  /** The time of the last transaction before the moment, in milliseconds since 1970, and its place in the log. */
  at: number;
  generation: number;
  position: number;
  /** An estimate of the bytes that the rebuilt database needs. */
  bytes: number;
  /** On Postgres, the event before whose transaction the moment is, and that transaction. */
  event?: string;
  transaction?: string;
}

/** A loaded database that has not been checked yet. */
export interface LoadedDatabase {
  /** The absolute path of the file, or the name of the database. */
  location: string;
  /** Notes for the operator about properties of the live database that could not be copied to the loaded database. */
  notes?: readonly string[];
}

/** The disk that holds a database. */
export interface DatabaseSpace {
  /** The directory on this machine, or the server, for messages. */
  place: string;
  /**
   * True if `place` is a directory on this machine. A restore then compares the free space of its disk with the total
   * size of everything that the restore writes to that disk.
   */
  here: boolean;
  /** Free space in bytes if `here` is false. Undefined if it is unknown. */
  freeBytes?: number | undefined;
}

/** How a restore replaces the live database. */
export interface SwapOptions {
  /**
   * Empties the live database and loads the dump into it, for a server without room for a second database. This cannot
   * be undone.
   */
  inPlace?: boolean;
}

export interface LoadOptions extends SwapOptions {
  /** The id of the restore. The names of its databases contain it. */
  id: string;
  /** Undefined for Keycloak, which encrypts nothing with a master key. */
  masterKey: Secret | undefined;
  signal: AbortSignal;
  /** Receives the number of bytes of SQL that have been loaded so far. */
  onProgress?: (bytes: number) => void;
}

/** The service of a platform, and the components around it. */
export interface PlatformService {
  info(): ServiceInfo;
  /** Returns the version that a running Keycloak reports, or undefined if the service does not report one. */
  readVersion(): Promise<string | undefined>;
  /** Returns the URL at which this machine reaches the service, or undefined if the service is not running. */
  baseUrl(): Promise<string | undefined>;
  /** Returns the URL of health and metrics if they have their own port. */
  managementUrl(): Promise<string | undefined>;
  /** Returns false if the service is not running and only the operator can start it. */
  canStart(): Promise<boolean>;
  /** Starts the service. An embedded service runs inside this process and listens on a random loopback port. */
  start(signal?: AbortSignal): Promise<void>;
  /** Stops the embedded service that `start` started. Idempotent. */
  stop(): Promise<void>;
  /**
   * Polls `/health/ready` until the service is ready.
   *
   * @throws IDKIT_UNREACHABLE after `timeoutSeconds`
   */
  waitUntilReady(timeoutSeconds: number, signal?: AbortSignal): Promise<void>;

  /**
   * Checks that a restore can stop every part of the platform that is running.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  checkReplaceable(): Promise<void>;
  /**
   * Starts the components of one role and waits until each is UP. A running component that matches its definition is
   * not restarted.
   *
   * @throws IDKIT_FAILED with the last lines of the log if a component ends or restarts repeatedly, IDKIT_UNREACHABLE
   *   if it is not UP in time, IDKIT_PORT_TAKEN, IDKIT_VERSION without an engine
   */
  startComponents(role: ComponentRole, options: StartOptions): Promise<readonly Component[]>;
  /**
   * Stops and removes the components of one role but keeps their data. Returns the components that were running.
   * Idempotent.
   */
  stopComponents(role: ComponentRole, options: { signal: AbortSignal }): Promise<readonly Component[]>;
  /** Removes the networks that `startComponents` created. */
  removeNetworks(options: { signal: AbortSignal }): Promise<void>;
  /**
   * Lists every component of the definition with its current state, in the order in which they start.
   *
   * @throws IDKIT_SETTING without a definition, IDKIT_VERSION, IDKIT_UNREACHABLE
   */
  listComponents(options?: Pick<StartOptions, 'definition'>): Promise<readonly Component[]>;
}

/** What `status` shows of the store. */
export interface StoreStatus {
  /** The demands of each realm that the service does not enforce. */
  unenforced: readonly { realm: string; path: string; what: string; refuses: boolean }[];
  /** The background migrations that have not finished. `left` is an estimate, and absent if it is unknown. */
  migrations: readonly { name: string; handled: number; left?: number }[];
  /** Absent for Keycloak, and if no service has created the database yet. */
  figures?: { schemaVersion: number; databaseBytes: number; userSessions: number; offlineSessions: number };
}

/** The settings of a database, for people who look for the cause of a fault. */
export interface DatabaseInspection {
  settings: readonly { name: string; value: string }[];
  /** Settings that risk the data or the service, each with the next step. */
  faults: readonly string[];
  /** The server's clock minus the clock of this machine. Absent on SQLite. */
  clockOffsetMilliseconds?: number;
}

/** Operations that need the service's own store. */
export interface StoreAccess {
  /**
   * Returns the representation of each realm, as in `GET /admin/realms/{realm}`, from the snapshot of the last dump.
   */
  readSnapshot(): Promise<readonly { realm: string; representation: unknown }[]>;
  /**
   * Reads what `status` shows of the store. The service does not need to be running.
   *
   * @throws IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG
   */
  readStatus(): Promise<StoreStatus>;
  /**
   * Creates an administrator or resets an existing one, and returns the new password. The password cannot be read
   * later.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  recoverAdministrator(username: string): Promise<{ password: Secret }>;
  /**
   * Encrypts every secret with the new master key.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }>;
}

/** What identifies a database, and what changes when something writes to it. */
export interface DatabaseIdentity {
  /**
   * On Postgres the server's system identifier, on SQLite the device of the file. `unknown` if the role may not read it,
   * `none` if there is no file.
   */
  server: string;
  /** The time at which the Postgres server started, to the microsecond. */
  started?: string;
  /** On Postgres the name of the database, on SQLite the inode of the file; `none` if it does not exist. */
  database: string;
  /** Facts that a write changes, by their name. */
  state: Readonly<Record<string, string>>;
}

/**
 * The database of a platform. It can be dumped while the service is running. A dump is loaded into a staged database,
 * which then replaces the live database through a rename.
 */
export interface PlatformDatabase extends StoreAccess {
  info(): DatabaseInfo;
  /**
   * Reads what identifies the database, whichever address leads to it. Returns undefined if its container is stopped.
   *
   * @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS
   */
  identify(): Promise<DatabaseIdentity | undefined>;
  /**
   * Returns the SHA-256 of each of these credentials that exists, by its id, like `SampledCredential` of a set.
   *
   * @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS
   */
  digestCredentials(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Writes one consistent snapshot as uncompressed SQL, in chunks, while the service is running. A chunk is valid only
   * until `write` resolves. `onProgress` receives the number of bytes written so far, and an estimate of their total.
   */
  dump(
    write: (chunk: Uint8Array) => Promise<void>,
    options: { signal: AbortSignal; onProgress?: (bytes: number, total?: number) => void },
  ): Promise<DumpSummary>;
  /**
   * Checks that a dump fits this platform: its kind, its schema (`load` migrates an older one), the server, and the
   * master key. Changes nothing. If `asks` is false, it contacts no server.
   *
   * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG; IDKIT_DAMAGED if no key can decrypt the dump
   */
  checkDump(dump: DumpReport, options?: SwapOptions & { asks?: boolean }): Promise<void>;
  /**
   * Loads SQL text into a staged database. Does not change the live database, unless `inPlace` is set.
   *
   * @throws IDKIT_DAMAGED, IDKIT_NO_SPACE
   */
  load(sql: AsyncIterable<Uint8Array>, options: LoadOptions): Promise<LoadedDatabase>;
  /**
   * Finds a moment in the platform's archive. Absent if this kind of database has no archive. Changes nothing.
   *
   * @throws IDKIT_SETTING without an archive; IDKIT_NOT_FOUND before the first base or for an unknown event;
   *   IDKIT_DAMAGED within a gap; IDKIT_MASTER_KEY_WRONG, IDKIT_UNREACHABLE, IDKIT_NO_SPACE
   */
  findMoment?(moment: Moment, masterKey: Secret | undefined, signal?: AbortSignal): Promise<FoundMoment>;
  /** Rebuilds the database of a moment as the staged database, instead of `load`. @throws IDKIT_DAMAGED, IDKIT_NO_SPACE */
  loadMoment?(found: FoundMoment, options: LoadOptions): Promise<LoadedDatabase>;
  /**
   * Checks the integrity, the foreign keys and the master key of a loaded database. Then migrates an older schema and
   * updates the statistics of the query planner.
   *
   * @throws IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG
   */
  checkLoaded(
    id: string,
    masterKey: Secret | undefined,
    options?: SwapOptions & { signal?: AbortSignal },
  ): Promise<StagedDatabase>;
  /** Renames the staged database to the live name, and keeps the previous database under another name. */
  swap(id: string, options?: SwapOptions): Promise<void>;
  /**
   * Puts the previous database back. Does nothing if there was no swap.
   *
   * @param options.password the previous password of the database's role; absent if it did not change
   */
  swapBack(id: string, options?: { password?: Secret | undefined }): Promise<void>;
  /** Returns the size of the staged database in bytes. */
  stagedBytes(id: string): Promise<number>;
  /** Removes the staged database and, with `previous`, also the database that `swap` kept. */
  discard(id: string, options: { previous: boolean }): Promise<void>;
  /**
   * Reads the settings of the database and of its server. Changes nothing.
   *
   * @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS, IDKIT_VERSION without psql, IDKIT_DATABASE_DAMAGED
   */
  inspect(): Promise<DatabaseInspection>;
  /** Returns the disk on which a staged database will be created. */
  findSpace(): Promise<DatabaseSpace>;
  /**
   * Checks that the configured master key decrypts the live database. Accepts any key if no database exists.
   *
   * @throws IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG
   */
  checkMasterKey(): Promise<void>;
  /**
   * Checks that no service on any machine is using the database. Does nothing on SQLite, where `baseUrl` already finds
   * a running service.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  checkUnused(): Promise<void>;
  /**
   * Prevents services from using the live database until `release`, even after a swap. Only the service that `start`
   * starts may use it. Does nothing if no other service can reach the database.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  keepServicesOut(): Promise<{ release(): Promise<void> }>;
}
