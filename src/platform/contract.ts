import type { DumpReport } from '../backupset/index.ts';
import type { Settings } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import type { RealmCount } from '../pgtools/index.ts';

export type { RealmCount } from '../pgtools/index.ts';

/** What a dump contains; the database part of a manifest. */
export interface DumpSummary {
  kind: 'sqlite' | 'postgres';
  /** The version of SQLite or of the Postgres server. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** Counted in the snapshot that was dumped. */
  realms: readonly RealmCount[];
}

/** The kind and version of a platform's service. */
export interface ServiceInfo {
  runtime: 'embedded' | 'compose';
  service: 'idkit' | 'keycloak';
  /** `unknown` for a Keycloak, which alone knows its version; see `readVersion`. */
  serviceVersion: string;
}

/** The kind and place of a platform's database. */
export interface DatabaseInfo {
  database: 'sqlite' | 'postgres';
  /** The file, or the address without its password. */
  databaseLocation: string;
  /** What `restore --in-place --confirm` must repeat; absent if the database cannot be replaced in place. */
  databaseName?: string;
}

export interface PlatformInfo extends ServiceInfo, DatabaseInfo {}

/** The roles of components in the order in which they start. They stop in the opposite order. */
export const COMPONENT_ROLES = ['database', 'service', 'proxy', 'application'] as const;

export type ComponentRole = (typeof COMPONENT_ROLES)[number];

/**
 * Returns the seconds that a component may take to start. The first start of Keycloak also builds Keycloak and creates
 * its tables, which takes two minutes on a busy machine.
 */
export function startSeconds({ service }: Pick<Settings, 'service'>): number {
  return service === 'keycloak' ? 240 : 120;
}

/** A component of the platform that runs separately: a container, or a Keycloak process. */
export interface Component {
  /** Its name in the platform's definition. */
  name: string;
  role: ComponentRole;
  /** Image and tag as in the definition. */
  image: string;
  /** The engine's state (`running`, `restarting`, `exited` …), or `absent` if it was never created. */
  state: string;
  health: 'UP' | 'DOWN';
  /** How often the engine has restarted it. */
  restarts: number;
  /** Why it is DOWN. */
  detail?: string;
}

/** How to start components. */
export interface StartOptions {
  signal: AbortSignal;
  /** Seconds until each component must be UP. */
  timeoutSeconds: number;
  /** The directory of the platform's definition, if that is not in its final place yet. */
  definition?: string;
  /** Receives the reason for a slow start: the engine must fetch the image. */
  note?: (message: string) => void;
}

/** A database that was loaded and checked but is not live yet. */
export interface StagedDatabase {
  /** Counted in what was loaded. */
  realms: readonly RealmCount[];
  schemaVersion: number;
  /** An absolute path, or the name of the database. */
  location: string;
}

/** A database that was loaded and not checked yet. */
export interface LoadedDatabase {
  /** An absolute path, or the name of the database. */
  location: string;
  /** Properties of the live database that the loaded one could not get, for the operator. */
  notes?: readonly string[];
}

/** The disk of a database. */
export interface DatabaseSpace {
  /** A directory of this machine, or the server, for messages. */
  place: string;
  /** Whether `place` is a directory of this machine, whose disk may hold other directories too. */
  here: boolean;
  /** Set only if `here` is false; undefined if this machine cannot find out. */
  freeBytes?: number | undefined;
}

/** How to replace the live database. */
export interface SwapOptions {
  /** Empties the live database and loads into it, because there is no room for two. Cannot be undone. */
  inPlace?: boolean;
}

/** How to load a dump. */
export interface LoadOptions extends SwapOptions {
  /** The id of the restore, which the names of its databases contain. */
  id: string;
  /** Undefined if the service encrypts nothing itself. */
  masterKey: Secret | undefined;
  signal: AbortSignal;
  /** Receives the bytes of SQL loaded so far. */
  onProgress?: (bytes: number) => void;
}

/** The service of a platform, and the components around it. */
export interface PlatformService {
  info(): ServiceInfo;
  /** Asks a running Keycloak for its version; undefined if the service does not report one. */
  readVersion(): Promise<string | undefined>;
  /** Returns the address of the service for this machine, or undefined if it does not run. */
  baseUrl(): Promise<string | undefined>;
  /** Returns the address of health and metrics if they have their own port. */
  managementUrl(): Promise<string | undefined>;
  /** Returns false if the service does not run and only its operator can start it. */
  canStart(): Promise<boolean>;
  /** Starts the service. An embedded one runs inside this process on a random port of the loopback interface. */
  start(signal?: AbortSignal): Promise<void>;
  /** Stops an embedded service that `start` started. Idempotent. */
  stop(): Promise<void>;
  /** Polls `/health/ready`. @throws IDKIT_UNREACHABLE after `timeoutSeconds` */
  waitUntilReady(timeoutSeconds: number, signal?: AbortSignal): Promise<void>;

  /**
   * Checks that a restore may begin, that is, that it can stop everything that runs.
   *
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  checkReplaceable(): Promise<void>;
  /**
   * Starts the components of one role and waits until each is UP. Components that run and match their definition keep
   * running. A platform without components starts none.
   *
   * @throws IDKIT_FAILED with the last lines of its log for a component that ends or restarts repeatedly,
   *   IDKIT_UNREACHABLE for one that is not UP in time, IDKIT_PORT_TAKEN, IDKIT_VERSION without an engine
   */
  startComponents(role: ComponentRole, options: StartOptions): Promise<readonly Component[]>;
  /** Stops and removes the components of one role but keeps their data. Returns those that ran. Idempotent. */
  stopComponents(role: ComponentRole, options: { signal: AbortSignal }): Promise<readonly Component[]>;
  /** Removes the networks that `startComponents` created. */
  removeNetworks(options: { signal: AbortSignal }): Promise<void>;
  /**
   * Lists every component of the definition with its current state, in starting order.
   *
   * @throws IDKIT_SETTING without a definition, IDKIT_VERSION, IDKIT_UNREACHABLE
   */
  listComponents(options?: Pick<StartOptions, 'definition'>): Promise<readonly Component[]>;
}

/** Work that needs the service's own store. */
export interface StoreAccess {
  /** Returns realm representations like those of `GET /admin/realms/{realm}`, from the snapshot of the last dump. */
  readSnapshot(): Promise<readonly { realm: string; representation: unknown }[]>;
  /**
   * Lists the demands of each realm that the service does not enforce, whether the service runs or not.
   *
   *
   * @throws IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG
   */
  listUnenforced(): Promise<readonly { realm: string; path: string; what: string; refuses: boolean }[]>;
  /**
   * Creates or resets an administrator in the store, and returns the new password. No other call returns it.
   *
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  recoverAdministrator(username: string): Promise<{ password: Secret }>;
  /** Encrypts every secret with another master key. @throws IDKIT_SERVICE_RUNNING */
  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }>;
}

/** The database of a platform: dumped while the service runs, loaded into a staged database, swapped by rename. */
export interface PlatformDatabase extends StoreAccess {
  info(): DatabaseInfo;
  /**
   * Writes the SQL dump of one consistent snapshot, uncompressed, chunk by chunk, while the service runs. A chunk may
   * be read only until `write` resolves. `onProgress` receives the bytes of SQL written so far.
   */
  dump(
    write: (chunk: Uint8Array) => Promise<void>,
    options: { signal: AbortSignal; onProgress?: (bytes: number) => void },
  ): Promise<DumpSummary>;
  /**
   * Checks that a dump fits this platform: its kind, its schema (`load` migrates an older one), the server, and the
   * master key. Loads nothing. If `asks` is false, it contacts no server.
   *
   * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG, IDKIT_DAMAGED if no key belongs to the dump
   */
  checkDump(dump: DumpReport, options?: SwapOptions & { asks?: boolean }): Promise<void>;
  /**
   * Loads SQL text into a staged database. Leaves the live one untouched unless `inPlace` is set.
   *
   * @throws IDKIT_DAMAGED, IDKIT_NO_SPACE
   */
  load(sql: AsyncIterable<Uint8Array>, options: LoadOptions): Promise<LoadedDatabase>;
  /**
   * Checks the integrity, the foreign keys and the master key of a loaded database. Then migrates an older schema and
   * updates the statistics of the query planner.
   *
   *
   * @throws IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG
   */
  checkLoaded(
    id: string,
    masterKey: Secret | undefined,
    options?: SwapOptions & { signal?: AbortSignal },
  ): Promise<StagedDatabase>;
  /** Renames the staged database into place and keeps the previous one as `.pre-ID`. */
  swap(id: string, options?: SwapOptions): Promise<void>;
  /**
   * Puts the previous database back. Does nothing if there was no swap.
   *
   * @param options.password the previous password of the database's role; absent if it did not change
   */
  swapBack(id: string, options?: { password?: Secret | undefined }): Promise<void>;
  /** Returns the bytes on the disk that `discard` without `previous` frees. */
  stagedBytes(id: string): Promise<number>;
  /** Removes the staged database and, with `previous`, the database that `swap` kept. */
  discard(id: string, options: { previous: boolean }): Promise<void>;
  /** Returns the disk that a staged database will use. */
  findSpace(): Promise<DatabaseSpace>;
  /**
   * Checks that the master key of the settings decrypts the live database. Accepts any key if no database exists.
   *
   * @throws IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG
   */
  checkMasterKey(): Promise<void>;
  /**
   * Checks that no service of any machine uses the database. Does nothing if `baseUrl` already shows this.
   *
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  checkUnused(): Promise<void>;
  /**
   * Keeps services out of the live database until `release`, even if another database gets its name. The service that
   * `start` starts may use it. Does nothing if no other service can reach the database.
   *
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  keepServicesOut(): Promise<{ release(): Promise<void> }>;
}
