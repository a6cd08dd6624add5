import { listConfigArchive, SET_FILES, type SetHandle, type Verdict } from '../../backupset/index.ts';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import type { FoundMoment, RealmCount } from '../../platform/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { checkDiskSpace } from './disk-space.ts';
import { listEffects } from './effects.ts';
import type { RestoreOptions } from './options.ts';
import { databasePasswords, loadSettingsAfter, nextFilesOfSet } from './settings-after.ts';
import type { NextPlatform, Restore } from './work.ts';

/**
 * Performs the remaining checks before any change. First, the service must be stopped. Then the dump's kind, version
 * and master key must match the restored platform, and the disks must have space. Finally it creates the plan.
 *
 * @throws IDKIT_SERVICE_RUNNING; IDKIT_SETTING if the set does not result in a valid platform; IDKIT_VERSION;
 *   IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG; IDKIT_NO_SPACE
 */
export async function preflight(restore: Restore): Promise<undefined> {
  const { settings, options, set, verified } = restore;
  const { verdict, environment } = verified;
  const expectation = expectedCounts(verdict);
  restore.journal = { ...restore.journal, expectation };
  if (settings.exists) await untouched(() => checkDefinition(settings, set, options.signal));
  await checkServiceStopped(settings);
  const next = await untouched(async () => {
    const files = await nextFilesOfSet(set, settings, environment, options.signal);
    return openNext(restore, await loadSettingsAfter(settings, files, options.env ?? process.env));
  });
  await untouched(async () => checkConfirmed(next, options));
  await untouched(() => checkDefinition(next.settings, set, options.signal));
  const brings = await listEffects(set, settings, verified, options);
  const asks = options.dryRun !== true || !reachesAnother(settings, next.settings);
  // The definition of the set may name a database that another service uses.
  if (asks) await checkServiceStopped(next.settings);
  await untouched(() => checkDump(restore, next, asks));
  const moment = restore.earlier?.moment ?? (await untouched(() => findMoment(next, options)));
  if (moment !== undefined) restore.journal = { ...restore.journal, moment };
  const { neededBytes, freeBytes } = await checkDiskSpace(restore, next, asks);
  restore.next = next;
  restore.plan = {
    set: set.dir,
    target: next.settings.dir,
    database: next.platform.info().databaseLocation,
    realms: expectation,
    neededBytes,
    freeBytes,
    inPlace: options.inPlace !== undefined,
    brings,
    ...(moment === undefined ? {} : { moment: moment.at }),
    unasked: asks
      ? []
      : ['whether the service is stopped, the server can load the dump and its disk has space'],
  };
}

/** Opens the platform that the settings after the restore describe. */
export async function openNext(
  { settings: present, options, journal }: Restore,
  after: Settings,
): Promise<NextPlatform> {
  const settings = options.adjust?.(after) ?? after;
  const places = { dir: present.dir, id: journal.id };
  const { any } = await databasePasswords(present, places, options.env ?? process.env);
  const platform = await openPlatform(settings, {
    databasePasswords: any,
    scratch: options.scratch,
    archiveOf: options.archiveOf,
  });
  return { settings, platform };
}

/** @throws IDKIT_SERVICE_RUNNING */
export async function checkServiceStopped(settings: Settings): Promise<void> {
  await (await openPlatform(settings)).service.checkReplaceable();
}

/** Checks that `--confirm` names the database that is to be emptied. @throws IDKIT_USAGE */
function checkConfirmed({ platform }: NextPlatform, { inPlace }: RestoreOptions): void {
  if (inPlace === undefined) return;
  const { databaseName, databaseLocation } = platform.info();
  if (databaseName === undefined)
    throw new IdkitError(
      'IDKIT_USAGE',
      `--in-place needs a Postgres database, but this one is ${databaseLocation}`,
    );
  if (databaseName !== inPlace)
    throw new IdkitError('IDKIT_USAGE', `--confirm names ${inPlace}, but the database is ${databaseName}`, {
      hints: [`--in-place --confirm ${databaseName} empties the database ${databaseName} first`],
    });
}

/** Finds the moment that `--at` names, with the master key of the restored platform. */
async function findMoment(
  { platform, settings }: NextPlatform,
  { moment, signal }: RestoreOptions,
): Promise<FoundMoment | undefined> {
  if (moment === undefined) return undefined;
  const { database } = platform;
  if (database.findMoment === undefined)
    throw new IdkitError('IDKIT_SETTING', 'restore --at needs idkit’s own service with an archive');
  return database.findMoment(
    moment,
    settings.service === 'keycloak' ? undefined : settings.masterKey,
    signal,
  );
}

async function checkDump(
  { set, options, verified }: Restore,
  next: NextPlatform,
  asks: boolean,
): Promise<void> {
  const { dump } = verified.verdict;
  if (dump === undefined)
    throw new IdkitError('IDKIT_BUG', `${set.name} was verified, but its dump is missing`);
  try {
    await next.platform.database.checkDump(dump, { inPlace: options.inPlace !== undefined, asks });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    const { code, message, hints } = error;
    throw new IdkitError(code, `${set.name} cannot be restored here: ${message}`, {
      cause: error,
      hints: code.startsWith('IDKIT_MASTER_KEY') ? keyHints(next.settings, options) : hints,
    });
  }
}

/** Returns a hint that says where the current key comes from and where to put the right one. */
function keyHints({ sources }: Settings, { keepEnv }: RestoreOptions): readonly string[] {
  if (sources['IDKIT_MASTER_KEY'] === 'environment')
    return ['IDKIT_MASTER_KEY in the process environment overrides .env; unset the variable'];
  if (keepEnv === true)
    return ['--keep-env keeps the current .env; without --keep-env the restore uses the .env of the set'];
  return [
    'the key comes from the .env of the set; set the key of the dump as IDKIT_MASTER_KEY in the process environment, or keep the current .env with --keep-env',
  ];
}

/** Runs `work`. If it fails, the error gets the hint that nothing was touched. */
async function untouched<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    throw new IdkitError(error.code, error.message, {
      cause: error,
      hints: ['nothing was touched', ...error.hints],
    });
  }
}

/**
 * True if the restored platform has a database, service or engine that the target does not name itself. To check it, a
 * dry run would have to contact an address that only the set names.
 */
function reachesAnother(now: Settings, then: Settings): boolean {
  const addresses = ({ runtime, service, database, keycloak, compose, listen }: Settings) =>
    JSON.stringify({ runtime, service, database, keycloak, compose, listen });
  const staysHere =
    then.runtime === 'embedded' && then.service === 'idkit' && then.database.kind === 'sqlite';
  return !staysHere && addresses(now) !== addresses(then);
}

/** Returns the user count of each realm for which the set has one. */
function expectedCounts(verdict: Verdict): readonly RealmCount[] {
  return verdict.realms.flatMap(({ realm, users }) => (users === undefined ? [] : [{ realm, users }]));
}

/** Checks that a platform in containers has a compose.yaml, either its own or that of the set. @throws IDKIT_SETTING */
async function checkDefinition(settings: Settings, set: SetHandle, signal: AbortSignal): Promise<void> {
  if (settings.runtime !== 'compose' || findEntry(platformPaths(settings.dir).compose) !== undefined) return;
  const entries = set.names.includes(SET_FILES.config) ? await listConfigArchive(set, { signal }) : [];
  if (entries.some(({ path }) => path === 'compose.yaml')) return;
  throw new IdkitError(
    'IDKIT_SETTING',
    `idkit.yaml says runtime: compose, and neither ${settings.dir} nor ${set.name} has a compose.yaml`,
    {
      hints: [
        'idkit init --runtime compose writes one',
        'another set may contain one; idkit backups list shows the sets',
      ],
    },
  );
}
