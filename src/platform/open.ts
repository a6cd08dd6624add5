import type { Settings } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import type { DatabaseHalf, GateSign, Platform, ServiceHalf } from './contract.ts';
import type { Scratch } from './scratch.ts';

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
export async function openPlatform(settings: Settings, options: OpenOptions = {}): Promise<Platform> {
  const sign: GateSign = { isShut: () => false };
  return joinHalves(
    await openPlatformService(settings, sign),
    await openDatabaseHalf(settings, options, sign),
  );
}

/**
 * The service and the parts around it alone, whatever the database is.
 *
 * @throws IDKIT_SETTING for containers whose database the settings do not name
 */
export async function openPlatformService(settings: Settings, sign?: GateSign): Promise<ServiceHalf> {
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
    const { openSqliteDatabase } = await import('./embedded/database.ts');
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
  const { openLocalPrograms } = await import('../pgtools/index.ts');
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

function joinHalves(service: ServiceHalf, database: DatabaseHalf): Platform {
  return {
    ...service,
    ...database,
    describe: () => ({ ...service.describeService(), ...database.describeDatabase() }),
  };
}

/** The newest schema of an embedded database, or of its dump, that this idkit reads. */
export async function newestSchemaVersion(): Promise<number> {
  return (await import('../store/open.ts')).SCHEMA_VERSION;
}

export { PART_ROLES, type PartRole, type PlatformPart, startSeconds } from './components.ts';
export type {
  DumpSummary,
  Platform,
  PlatformDescription,
  RealmCount,
  SideDatabase,
} from './contract.ts';
export { hasEnded } from './drill-mark.ts';
export { findServiceUrl, serviceRuns } from './find-service.ts';
export { openScratch, type Scratch } from './scratch.ts';
