import type { Settings } from '../config/index.ts';
import { IdkitError, type Secret } from '../core/index.ts';

import type { DatabaseHalf, GateSign, Runtime, ServiceHalf } from './contract.ts';
import type { LogDestination, LogOptions, OpenedLog } from './open-log.ts';
import type { Scratch } from './scratch.ts';
import type { RunningService, ServeOptions, ServiceLog } from './service.ts';
import type { WorkerLink } from './workers/worker.ts';

/** What an opener knows beside the settings. */
export interface OpenOptions {
  /** Passwords of the database's role that may be in force instead of the settings' own: a restore changes it. */
  databasePasswords?: readonly Secret[];
  /** The server is there for a test alone (`openScratch`): roles that a dump names are made there. */
  scratch?: Scratch | undefined;
}

/**
 * The platform that the settings describe. Opens nothing yet.
 *
 * @throws IDKIT_SETTING for settings that do not go together
 */
export async function openRuntime(settings: Settings, options: OpenOptions = {}): Promise<Runtime> {
  const sign: GateSign = { isShut: () => false };
  return joinHalves(await openServiceHalf(settings, sign), await openDatabaseHalf(settings, options, sign));
}

/**
 * The service and the parts around it alone, whatever the database is.
 *
 * @throws IDKIT_SETTING for containers whose database the settings do not name
 */
export async function openServiceHalf(settings: Settings, sign?: GateSign): Promise<ServiceHalf> {
  if (settings.runtime === 'compose') {
    const { openCompose } = await import('./compose/open.ts');
    return openCompose(settings).service;
  }
  if (settings.service === 'keycloak') {
    const { openKeycloakService } = await import('./keycloak/service.ts');
    return openKeycloakService(settings);
  }
  const { openEmbeddedService } = await import('./embedded/service.ts');
  return openEmbeddedService(settings, sign);
}

async function openDatabaseHalf(
  settings: Settings,
  { databasePasswords: otherPasswords = [], scratch }: OpenOptions,
  sign: GateSign,
): Promise<DatabaseHalf> {
  if (settings.database.kind === 'sqlite') {
    const { openSqliteDatabase } = await import('./embedded/sqlite-database.ts');
    return openSqliteDatabase(settings);
  }
  const { openPostgresOf } = await import('./postgres/of-settings.ts');
  if (settings.runtime === 'compose') {
    const { openCompose } = await import('./compose/open.ts');
    const { programs, findDatabase } = openCompose(settings);
    const { tolerateStopped } = await import('./compose/stopped-database.ts');
    const { tunnelStoreWork } = await import('./compose/store-work.ts');
    const database = openPostgresOf(settings, { programs, reachable: false, otherPasswords });
    const open = (by: Settings) => openPostgresOf(by, { programs, reachable: true, otherPasswords });
    const storeWork = settings.service === 'idkit' ? tunnelStoreWork(settings, findDatabase, open) : {};
    return tolerateStopped({ ...database, ...storeWork }, findDatabase);
  }
  const { openLocalPrograms } = await import('./postgres/local-programs.ts');
  return openPostgresOf(settings, {
    programs: scratch?.programs ?? openLocalPrograms(),
    reachable: true,
    otherPasswords,
    administrator: scratch?.administrator,
    sign,
  });
}

/** The same platform on the database that `describe().databaseLocation` named once. */
export function withDatabase(settings: Settings, location: string): Settings {
  const isAddress = /^postgres(ql)?:\/\//.test(location);
  return {
    ...settings,
    database: isAddress ? { kind: 'postgres', url: location } : { kind: 'sqlite', file: location },
  };
}

function joinHalves(service: ServiceHalf, database: DatabaseHalf): Runtime {
  return {
    ...service,
    ...database,
    describe: () => ({ ...service.describeService(), ...database.describeDatabase() }),
  };
}

/**
 * Runs the token service of a platform directory inside this process and resolves once it is ready; the caller
 * ends it with `close()`. Nothing is left behind where it throws.
 *
 * @throws IDKIT_LOCKED with the holder, IDKIT_PORT_TAKEN, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG,
 *   IDKIT_DATABASE_DAMAGED, IDKIT_VERSION, IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_SETTING, IDKIT_IMPORT
 */
export async function startService(settings: Settings, options: ServeOptions = {}): Promise<RunningService> {
  if (settings.service === 'keycloak')
    throw new IdkitError(
      'IDKIT_SETTING',
      'idkit.yaml says service: keycloak, and serve runs idkit’s own service',
      {
        hints: ['start Keycloak as you do, or serve another platform directory'],
      },
    );
  checkServedHere(settings);
  const { startServer } = await import('./embedded/server.ts');
  return startServer(settings, options);
}

/**
 * The service of a container platform runs in its container, which names its database by the environment.
 *
 * @throws IDKIT_SETTING
 */
function checkServedHere({ runtime, sources }: Settings): void {
  if (runtime === 'embedded' || sources['database'] === 'environment' || sources['database'] === 'flag')
    return;
  throw new IdkitError(
    'IDKIT_SETTING',
    'idkit.yaml says runtime: compose, and its service runs in a container',
    {
      hints: ['idkit up starts it', 'serve --database URL runs another one on a database of your choice'],
    },
  );
}

/**
 * Runs the token service in `count` processes that listen on the same port. This process replaces those that end; each
 * of them runs this program again, and finds itself by `findWorkerLink`.
 *
 * @throws as `startService`
 */
export async function startWorkers(
  settings: Settings,
  count: number,
  log: ServiceLog | undefined,
): Promise<RunningService> {
  const workers = await import('./workers/start-workers.ts');
  return workers.startWorkers(settings, count, log);
}

/** This process as one of the workers that `startWorkers` started; undefined where it is none. */
export async function findWorkerLink(): Promise<WorkerLink | undefined> {
  return (await import('./workers/worker.ts')).openWorkerLink();
}

/** The newest schema of an embedded database, or of its dump, that this idkit reads. */
export async function newestSchemaVersion(): Promise<number> {
  return (await import('../store/open.ts')).SCHEMA_VERSION;
}

/**
 * The service's log: one JSON line per event, without secrets. On a file descriptor lines are gathered; `flush`
 * writes them.
 */
export async function openLog(to: LogDestination, options: LogOptions = {}): Promise<OpenedLog> {
  const log = await import('./open-log.ts');
  return log.openLog(to, options);
}

export type {
  DumpSummary,
  PlatformDescription,
  RealmCount,
  Runtime,
  SideDatabase,
} from './contract.ts';
export { hasEnded } from './drill-mark.ts';
export { findServiceUrl } from './find-service.ts';
export type { OpenedLog } from './open-log.ts';
export { PART_ROLES, type PartRole, type PlatformPart, startSeconds } from './parts.ts';
export { openScratch, type Scratch } from './scratch.ts';
export type { RunningService, ServeOptions, ServiceLog, Unenforceable } from './service.ts';
export { serviceRuns } from './service-runs.ts';
export type { WorkerLink } from './workers/worker.ts';
