import { type SetHandle, type Verdict, verifySet } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { RealmCount } from '../../runtime/index.ts';
import { openRuntime } from '../../runtime/open.ts';
import { judgeEnvironment } from '../environment-content.ts';
import type { RestoreOptions, RestorePlan } from './contract.ts';
import type { NextPlatform, RestoreJob } from './job.ts';
import { checkRoom } from './room.ts';
import { databasePasswords, loadSettingsAfter, nextFilesOfSet } from './settings-after.ts';
import { RESTORE_STEPS } from './steps.ts';

/** A set that is whole. */
export interface VerifiedSet {
  verdict: Verdict;
  /** The environment file in the clear; absent where the one in place is kept. */
  environment?: Uint8Array;
}

/**
 * Verifies the set as a whole (spec step 1).
 *
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_VERSION as the verdict says
 */
export async function verifyForRestore(
  set: SetHandle,
  options: RestoreOptions,
  onProgress: (done: number, total?: number) => void,
): Promise<VerifiedSet> {
  const { passphrase, keepEnv, signal, reporter } = options;
  let environment: Uint8Array | undefined;
  const verdict = await verifySet(set, {
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
  return { verdict, ...(environment === undefined ? {} : { environment }) };
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
  { verdict, environment }: VerifiedSet,
): Promise<{ plan: RestorePlan; next: NextPlatform }> {
  const { settings, options, set } = job;
  await checkServiceStopped(settings);
  const next = await untouched(async () => {
    const files = await nextFilesOfSet(set, settings, environment, options.signal);
    return openNext(job, await loadSettingsAfter(settings, files, options.env ?? process.env));
  });
  await untouched(async () => checkConfirmed(next, options));
  // The set's own definition may name a database that another service has.
  await checkServiceStopped(next.settings);
  await untouched(() => checkDump(job, next, verdict));
  return { plan: await planRestore(job, next, verdict), next };
}

/** The platform that the settings after the restore make. @throws IDKIT_NOT_YET for one that is not built */
export async function openNext(job: RestoreJob, after: Settings): Promise<NextPlatform> {
  const settings = job.options.adjust?.(after) ?? after;
  const env = job.options.env ?? process.env;
  const { any } = await databasePasswords(job.settings, { dir: job.settings.dir, id: job.id }, env);
  return {
    settings,
    runtime: await openRuntime(settings, {
      databasePasswords: any,
      scratch: job.options.scratch,
    }),
  };
}

/** @throws IDKIT_SERVICE_RUNNING */
export async function checkServiceStopped(settings: Settings): Promise<void> {
  await (await openRuntime(settings)).checkReplaceable();
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

async function checkDump({ set, options }: RestoreJob, next: NextPlatform, { dump }: Verdict): Promise<void> {
  if (dump === undefined) throw new IdkitError('IDKIT_BUG', `${set.name} is whole, and has no dump`);
  try {
    await next.runtime.checkDump(dump, { inPlace: options.inPlace !== undefined });
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

/** The plan of the restore, once there is room for it. @throws IDKIT_NO_SPACE */
async function planRestore(job: RestoreJob, next: NextPlatform, verdict: Verdict): Promise<RestorePlan> {
  const { set, expectation } = job;
  const { neededBytes, freeBytes } = await checkRoom(job, next, verdict);
  return {
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
