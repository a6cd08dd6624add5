import type { Unenforceable } from '../admin/index.ts';
import type { Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import type { ServiceLog, ThemeReport } from '../http/index.ts';
import type { LogDestination, LogOptions, OpenedLog } from './log.ts';
import type { WorkerLink } from './workers/worker.ts';

export interface ServeOptions {
  /** Receives the log lines of the service. Default: no log. */
  log?: ServiceLog;
  /**
   * The directory with the realm files to import. If false, the start imports nothing. Default: `import` in the
   * platform directory.
   */
  importDirectory?: string | false;
  /** Time in seconds for running requests to finish after `close()`. Default: 10. */
  graceSeconds?: number;
  /** True if this process already holds the database's service lock in exclusive mode (`keepServicesOut`). */
  withoutLock?: boolean;
  /**
   * If true, secrets that a realm file lacks are replaced with new ones. If false, such a file is rejected. Default:
   * false.
   */
  newSecrets?: boolean;
  /** Receives a readable line about the progress a few times a minute while realm files are being imported. */
  progress?: (message: string) => void;
  /** Set if this process is one of several that share a port and form one service. */
  worker?: WorkerLink;
}

/** A service that is ready. */
export interface RunningService {
  /** The URL at which this machine reaches the service, such as `http://127.0.0.1:8080`. */
  address: string;
  /** The URL of metrics and detailed health. Undefined if the service has no management listener. */
  managementUrl: string | undefined;
  /** Messages for the operator about this start. */
  notes: readonly string[];
  /** The base URL of issuers and links. */
  baseUrl: string;
  /** Realms that this start imported. */
  imported: readonly string[];
  /** Demands of the imported realms that the service does not enforce. */
  unenforced: readonly Unenforceable[];
  /** Whether this start created the realm `master` and its administrator. */
  firstStart: boolean;
  /** Time in milliseconds from the call until the service was ready. */
  startedInMilliseconds: number;
  /**
   * Stops accepting connections, waits for running requests (at most `graceSeconds`), checkpoints the database and
   * releases the lock. Idempotent: every call returns the same promise.
   */
  close(): Promise<void>;
}

/**
 * Runs the token service of a platform directory inside this process. Resolves when the service is ready. If it throws,
 * it leaves nothing behind.
 *
 * @throws IDKIT_LOCKED with the holder, IDKIT_PORT_TAKEN, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG,
 *   IDKIT_DATABASE_DAMAGED, IDKIT_VERSION, IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_SETTING, IDKIT_IMPORT
 */
export async function startService(settings: Settings, options: ServeOptions = {}): Promise<RunningService> {
  if (settings.service === 'keycloak')
    throw new IdkitError(
      'IDKIT_SETTING',
      'idkit.yaml says service: keycloak, but serve runs only idkit’s own service',
      { hints: ['start Keycloak as you usually do, or serve another platform directory'] },
    );
  checkServedHere(settings);
  const { startServer } = await import('./server.ts');
  return startServer(settings, options);
}

/**
 * Checks that this process may run the service. The service of a container platform runs only in its container, where
 * an environment variable names the database.
 *
 * @throws IDKIT_SETTING
 */
function checkServedHere({ runtime, sources }: Settings): void {
  if (runtime === 'embedded' || sources['database'] === 'environment' || sources['database'] === 'flag')
    return;
  throw new IdkitError(
    'IDKIT_SETTING',
    'idkit.yaml says runtime: compose, so the service runs in a container',
    { hints: ['idkit up starts it', 'serve --database URL runs another service on that database'] },
  );
}

/**
 * Runs the token service in `count` processes that listen on the same port, and replaces processes that end. Each
 * process runs this program again and finds out with `findWorkerLink` that it is a worker.
 *
 * @throws the errors of `startService`
 */
export async function startWorkers(
  settings: Settings,
  count: number,
  log: ServiceLog | undefined,
): Promise<RunningService> {
  const workers = await import('./workers/start-workers.ts');
  return workers.startWorkers(settings, count, log);
}

/** Returns a worker's link to its parent process. Returns undefined if `startWorkers` did not start this process. */
export async function findWorkerLink(): Promise<WorkerLink | undefined> {
  return (await import('./workers/worker.ts')).openWorkerLink();
}

/** Opens the service's log: one JSON line per event, without secrets. See log.ts. */
export async function openLog(to: LogDestination, options: LogOptions = {}): Promise<OpenedLog> {
  const log = await import('./log.ts');
  return log.openLog(to, options);
}

/** Reads every theme of a platform directory, and reports its problems. */
export async function checkThemes(settings: Pick<Settings, 'dir'>): Promise<readonly ThemeReport[]> {
  const [http, { platformPaths }] = await Promise.all([
    import('../http/index.ts'),
    import('../config/index.ts'),
  ]);
  return http.checkThemes(platformPaths(settings.dir).config);
}

/** Lists the required actions that this version's login pages can run. */
export async function listRequiredActions(): Promise<ReadonlySet<string>> {
  const { REQUIRED_ACTIONS } = await import('../browser/index.ts');
  return new Set(REQUIRED_ACTIONS.keys());
}
