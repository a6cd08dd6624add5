import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SetHandle } from '../backupset/index.ts';
import { isForeignArchive, platformPaths, type Settings } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import type { PlatformService } from './contract.ts';
import type { ExcerptOptions, ItemExcerpt } from './excerpt/excerpt.ts';
import type { ItemName } from './excerpt/find-item.ts';
import type { Platform } from './platform.ts';
import type { ArchiverState } from './postgres/archive/archiver.ts';
import type { RunningArchive } from './postgres/archive/open.ts';
import type { Scratch } from './scratch.ts';

/** What `openPlatform` needs in addition to the settings. */
export interface OpenOptions {
  /** More passwords to try, because a restore may have changed the password of the database's role. */
  databasePasswords?: readonly Secret[];
  /** The temporary database that `openScratch` returned, if the platform exists only for a test. */
  scratch?: Scratch | undefined;
  /** The platform whose archive is read for a moment. Default: the platform itself. */
  archiveOf?: Settings | undefined;
}

/**
 * Returns the platform that the settings describe. Does not connect to anything yet.
 *
 * @throws IDKIT_SETTING if settings contradict each other
 */
export async function openPlatform(settings: Settings, options: OpenOptions = {}): Promise<Platform> {
  if (settings.runtime === 'compose')
    return (await import('./compose/platform.ts')).openComposePlatform(settings, options);
  if (settings.service === 'keycloak')
    return (await import('./keycloak/platform.ts')).openKeycloakPlatform(settings, options);
  return settings.database.kind === 'sqlite'
    ? (await import('./embedded/platform.ts')).openEmbeddedPlatform(settings, options)
    : (await import('./postgres/platform.ts')).openPostgresPlatform(settings, options);
}

/**
 * Returns the service and its components, but not the database.
 *
 * @throws IDKIT_SETTING if the settings do not name the container of the database
 */
export async function openPlatformService(settings: Settings): Promise<PlatformService> {
  if (settings.runtime === 'compose') {
    const { ComposeService } = await import('./compose/service.ts');
    return new ComposeService(settings);
  }
  if (settings.service === 'keycloak') {
    const { KeycloakService } = await import('./keycloak/service.ts');
    return new KeycloakService(settings);
  }
  const { EmbeddedService } = await import('./embedded/service.ts');
  return new EmbeddedService(settings);
}

/**
 * Returns the settings with another database.
 *
 * @param location a value of `DatabaseInfo.databaseLocation`
 */
export function withDatabase(settings: Settings, location: string): Settings {
  const isAddress = /^postgres(ql)?:\/\//.test(location);
  return {
    ...settings,
    database: isAddress ? { kind: 'postgres', url: location } : { kind: 'sqlite', file: location },
  };
}

/** Begins to archive every transaction of a Postgres database. Returns undefined if the settings do not say so. */
export async function startArchive(
  settings: Settings,
  onState: (state: ArchiverState) => void,
): Promise<RunningArchive | undefined> {
  if (settings.backup.archive === null || settings.database.kind !== 'postgres') return undefined;
  // Another program archives the WAL already.
  if (isForeignArchive(settings.backup.archive)) return undefined;
  const { startPostgresArchive } = await import('./postgres/archive/open.ts');
  return startPostgresArchive(settings, onState);
}

/** Returns the newest schema version of SQLite databases and their dumps that this idkit can read. */
export async function newestSchemaVersion(): Promise<number> {
  return (await import('../store/open.ts')).SCHEMA_VERSION;
}

/** Reads one record from a set. See `openExcerpt` in excerpt/excerpt.ts. */
export async function openExcerpt(
  set: SetHandle,
  name: ItemName,
  options: ExcerptOptions,
): Promise<ItemExcerpt> {
  return (await import('./excerpt/excerpt.ts')).openExcerpt(set, name, options);
}

export {
  COMPONENT_ROLES,
  type Component,
  type ComponentRole,
  type DumpSummary,
  type PlatformInfo,
  type RealmCount,
  type StagedDatabase,
  startSeconds,
} from './contract.ts';
export type { ExcerptOptions, ItemExcerpt } from './excerpt/excerpt.ts';
export type { ItemName } from './excerpt/find-item.ts';
export { findServiceUrl, serviceRuns } from './find-service.ts';
export type { Platform } from './platform.ts';
export type { ArchiverState } from './postgres/archive/archiver.ts';
export type { RunningArchive } from './postgres/archive/open.ts';
export { lockPlatformSchedule, type ScheduleLock } from './schedule-lock.ts';
export { openScratch, type Scratch } from './scratch.ts';

/** The name of a theme and its errors, each with its file. */
export interface CheckedTheme {
  name: string;
  usable: boolean;
  errors: readonly string[];
}

/** Checks the themes in `config/themes`. Keycloak does not read them, so it has none. */
export async function checkPlatformThemes(settings: Settings): Promise<readonly CheckedTheme[]> {
  // Most platforms have no themes. Checking them loads the pages.
  if (settings.service === 'keycloak' || !existsSync(join(platformPaths(settings.dir).config, 'themes')))
    return [];
  const { checkThemes } = await import('../service/index.ts');
  return (await checkThemes(settings)).map(({ name, usable, problems }) => ({
    name,
    usable,
    errors: problems.flatMap(({ kind, place, message }) =>
      kind === 'error' ? [`${place}: ${message}`] : [],
    ),
  }));
}
