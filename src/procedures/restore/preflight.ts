import {
  listConfigArchive,
  pinSet,
  SET_FILES,
  type SealedList,
  type SetHandle,
  type Verdict,
  verifySet,
} from '../../backupset/index.ts';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { RealmCount } from '../../platform/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { findEntry } from '../durable.ts';
import { judgeEnvironment } from '../verify/judge-set.ts';
import { checkRoom } from './disk-space.ts';
import { type Brought, listBrought } from './effects.ts';
import type { RestoreOptions, RestorePlan } from './options.ts';
import { databasePasswords, loadSettingsAfter, nextFilesOfSet } from './settings-after.ts';
import { RESTORE_STEPS } from './steps.ts';
import { isTrusted, notTrusted } from './trust.ts';
import type { NextPlatform, RestoreJob } from './work.ts';

/** How a set is verified. */
interface HowVerified {
  onProgress: (done: number, total?: number) => void;
  sealed: SealedList;
  /** SHA-256 of the checksums that an earlier run took for good. */
  accepted?: string | undefined;
}

/** A set that is whole. */
export interface VerifiedSet {
  /** It gives what was verified, or fails. */
  set: SetHandle;
  verdict: Verdict;
  /** The environment file in the clear; absent where the one in place is kept. */
  environment?: Uint8Array;
}

/**
 * Verifies the set as a whole (spec step 1).
 *
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_VERSION as the verdict says; IDKIT_UNSEALED if nobody vouches for it
 */
export async function verifyForRestore(
  found: SetHandle,
  target: Settings,
  options: RestoreOptions,
  { onProgress, sealed, accepted }: HowVerified,
): Promise<VerifiedSet> {
  const { passphrase, keepEnv, signal, reporter } = options;
  let environment: Uint8Array | undefined;
  const set = pinSet(found, sealed.list?.entries ?? []);
  const verdict = await verifySet(found, {
    sealed,
    signal,
    onProgress,
    ...(passphrase === undefined || keepEnv === true ? {} : { passphrase }),
    judgeEnvironment: (plain) => {
      environment = plain;
      return judgeEnvironment(plain);
    },
  });
  for (const note of verdict.notes) reporter.note(note);
  if (verdict.code !== undefined) {
    const told = verdict.problems.map(({ file, message }) => `${file}: ${message}`).join('; ');
    throw new IdkitError(verdict.code, `${set.name} cannot be restored: ${told}`, {
      hints: [
        'nothing was touched',
        ...new Set(verdict.problems.flatMap(({ hints }) => hints)),
        'idkit backups list shows the other sets',
      ],
    });
  }
  const verified = { set, verdict, ...(environment === undefined ? {} : { environment }) };
  if (isTrusted(verdict, options, accepted)) return verified;
  throw notTrusted(set.name, verdict.seal, 'restore', await listBrought(set, target, verified, options));
}

/**
 * Everything else that can be known before anything is touched, in the order of contract §3, restore: the service is
 * stopped; kind, version and master key of the dump fit the platform as it will be; room.
 *
 * @throws IDKIT_SERVICE_RUNNING; IDKIT_SETTING where the set makes no valid platform; IDKIT_VERSION,
 *   IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG; IDKIT_NO_SPACE
 */
export async function preflight(
  job: RestoreJob,
  verified: VerifiedSet,
): Promise<{ plan: RestorePlan; next: NextPlatform }> {
  const { settings, options, set } = job;
  const { verdict, environment } = verified;
  if (settings.exists) await untouched(() => checkDefinition(settings, set, options.signal));
  await checkServiceStopped(settings);
  const next = await untouched(async () => {
    const files = await nextFilesOfSet(set, settings, environment, options.signal);
    return openNext(job, await loadSettingsAfter(settings, files, options.env ?? process.env));
  });
  await untouched(async () => checkConfirmed(next, options));
  await untouched(() => checkDefinition(next.settings, set, options.signal));
  const brings = await listBrought(set, settings, verified, options);
  const asks = options.dryRun !== true || !reachesAnother(settings, next.settings);
  // The set's own definition may name a database that another service has.
  if (asks) await checkServiceStopped(next.settings);
  await untouched(() => checkDump(job, next, verdict, asks));
  return { plan: await planRestore(job, next, verdict, { brings, asks }), next };
}

/** The platform that the settings after the restore make. @throws IDKIT_NOT_YET for one that is not built */
export async function openNext(job: RestoreJob, after: Settings): Promise<NextPlatform> {
  const settings = job.options.adjust?.(after) ?? after;
  const env = job.options.env ?? process.env;
  const { any } = await databasePasswords(job.settings, { dir: job.settings.dir, id: job.id }, env);
  return {
    settings,
    runtime: await openPlatform(settings, {
      databasePasswords: any,
      scratch: job.options.scratch,
    }),
  };
}

/** @throws IDKIT_SERVICE_RUNNING */
export async function checkServiceStopped(settings: Settings): Promise<void> {
  await (await openPlatform(settings)).checkReplaceable();
}

/** What is emptied must be named, and nothing else is. @throws IDKIT_USAGE */
function checkConfirmed({ runtime }: NextPlatform, { inPlace }: RestoreOptions): void {
  if (inPlace === undefined) return;
  const { databaseName, databaseLocation } = runtime.describe();
  if (databaseName === undefined)
    throw new IdkitError('IDKIT_USAGE', `--in-place is for a Postgres database, not for ${databaseLocation}`);
  if (databaseName !== inPlace)
    throw new IdkitError('IDKIT_USAGE', `--confirm says ${inPlace}, and the database is ${databaseName}`, {
      hints: [`--in-place --confirm ${databaseName} empties the database ${databaseName} first`],
    });
}

async function checkDump(
  { set, options }: RestoreJob,
  next: NextPlatform,
  { dump }: Verdict,
  asks: boolean,
): Promise<void> {
  if (dump === undefined) throw new IdkitError('IDKIT_BUG', `${set.name} is whole, and has no dump`);
  try {
    await next.runtime.checkDump(dump, { inPlace: options.inPlace !== undefined, asks });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    const { code, message, hints } = error;
    throw new IdkitError(code, `${set.name} cannot be restored here: ${message}`, {
      cause: error,
      hints: code.startsWith('IDKIT_MASTER_KEY') ? keyHints(next.settings, options) : hints,
    });
  }
}

/** Where the key in force comes from, and where another may be. */
function keyHints({ sources }: Settings, { keepEnv }: RestoreOptions): readonly string[] {
  if (sources['IDKIT_MASTER_KEY'] === 'environment')
    return ['the process environment gives IDKIT_MASTER_KEY, which wins over .env; unset it there'];
  if (keepEnv === true)
    return ['the .env in place is kept; without --keep-env the set’s own is put in place'];
  return [
    'the key is looked for in the .env of the set; give the one that belongs to the dump as IDKIT_MASTER_KEY of the process environment, or keep the .env in place with --keep-env',
  ];
}

/** The refusals of the preflight say that they are. */
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
 * The platform as it will be has a database, service or engine that the target does not name itself: a check of it
 * would follow the set's word, which a dry run does not.
 */
function reachesAnother(now: Settings, then: Settings): boolean {
  const asked = ({ runtime, service, database, keycloak, compose, listen }: Settings) =>
    JSON.stringify({ runtime, service, database, keycloak, compose, listen });
  const staysHere =
    then.runtime === 'embedded' && then.service === 'idkit' && then.database.kind === 'sqlite';
  return !staysHere && asked(now) !== asked(then);
}

/** The plan of the restore, once there is room for it. @throws IDKIT_NO_SPACE */
async function planRestore(
  job: RestoreJob,
  next: NextPlatform,
  verdict: Verdict,
  { brings, asks }: { brings: readonly Brought[]; asks: boolean },
): Promise<RestorePlan> {
  const { set, expectation } = job;
  const { neededBytes, freeBytes } = await checkRoom(job, next, verdict, asks);
  return {
    brings,
    unasked: asks ? [] : ['whether the service is stopped, the server fits and its disk has room'],
    set: set.dir,
    target: next.settings.dir,
    database: next.runtime.describe().databaseLocation,
    realms: expectation,
    neededBytes,
    freeBytes,
    inPlace: job.options.inPlace !== undefined,
    steps: RESTORE_STEPS,
  };
}

/** What the verdict promises of each realm. */
export function expectedCounts(verdict: Verdict): readonly RealmCount[] {
  return verdict.realms.flatMap(({ realm, users }) => (users === undefined ? [] : [{ realm, users }]));
}

/** Containers need a definition, which the platform has or the set brings. @throws IDKIT_SETTING */
async function checkDefinition(settings: Settings, set: SetHandle, signal: AbortSignal): Promise<void> {
  if (settings.runtime !== 'compose' || (await findEntry(platformPaths(settings.dir).compose)) !== undefined)
    return;
  const holds = set.names.includes(SET_FILES.config) ? await listConfigArchive(set, { signal }) : [];
  if (holds.some(({ path }) => path === 'compose.yaml')) return;
  throw new IdkitError(
    'IDKIT_SETTING',
    `idkit.yaml says runtime: compose, and neither ${settings.dir} nor ${set.name} has a compose.yaml`,
    { hints: ['idkit init --runtime compose writes one', 'another set may hold one: idkit backups list'] },
  );
}
