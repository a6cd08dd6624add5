import type { Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';

import type { DatabaseHalf, Runtime, ServiceHalf } from './contract.ts';
import type { LogDestination, LogOptions, OpenedLog } from './open-log.ts';
import type { RunningService, ServeOptions } from './service.ts';

/**
 * The platform that the settings describe. Opens nothing yet.
 *
 * @throws IDKIT_NOT_YET for a platform that this version does not build
 */
export async function openRuntime(settings: Settings): Promise<Runtime> {
  checkBuilt(settings);
  return joinHalves(await openServiceHalf(settings), await openDatabase(settings));
}

/**
 * The service and the parts around it alone, whatever the database is.
 *
 * @throws IDKIT_SETTING for containers whose database the settings do not name
 */
export async function openServiceHalf(settings: Settings): Promise<ServiceHalf> {
  if (settings.runtime === 'compose') {
    const { openCompose } = await import('./compose/open.ts');
    return openCompose(settings).service;
  }
  if (settings.service === 'keycloak') {
    const { openKeycloakService } = await import('./keycloak/service.ts');
    return openKeycloakService(settings);
  }
  const { openEmbeddedService } = await import('./embedded/service.ts');
  return openEmbeddedService(settings);
}

async function openDatabase(settings: Settings): Promise<DatabaseHalf> {
  const { openSqliteDatabase } = await import('./embedded/sqlite-database.ts');
  return openSqliteDatabase(settings);
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
  if (settings.runtime === 'compose')
    throw new IdkitError('IDKIT_NOT_YET', 'runtime: compose is not built in this version');
  const { startServer } = await import('./embedded/server.ts');
  return startServer(settings, options);
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

function checkBuilt(settings: Settings): void {
  if (settings.runtime === 'compose')
    throw new IdkitError('IDKIT_NOT_YET', 'runtime: compose is not built in this version');
  if (settings.database.kind === 'postgres')
    throw new IdkitError('IDKIT_NOT_YET', 'a postgres:// database is not built in this version');
}

export type {
  DumpSummary,
  PlatformDescription,
  RealmCount,
  Runtime,
  SideDatabase,
} from './contract.ts';
export type { OpenedLog } from './open-log.ts';
export { PART_ROLES, type PartRole, type PlatformPart } from './parts.ts';
export type { RunningService, ServeOptions, ServiceLog, Unenforceable } from './service.ts';
export { serviceRuns } from './service-runs.ts';
