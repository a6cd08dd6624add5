import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type SetHandle, type Verdict, verifySet } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { RealmCount } from '../../runtime/index.ts';
import { openRuntime } from '../../runtime/open.ts';
import { renderBytes } from '../age.ts';
import { findEntry } from '../durable.ts';
import { serviceRuns } from '../service-runs.ts';
import type { RestoreOptions, RestorePlan } from './contract.ts';
import type { RestoreJob } from './job.ts';
import { RESTORE_STEPS } from './steps.ts';

/** A loaded database is larger than its SQL by its indexes and its log. */
const DATABASE_PER_SQL_BYTE = 2;

/**
 * Verifies the set as a whole (spec step 1).
 *
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_VERSION as the verdict says
 */
export async function verifyForRestore(
  set: SetHandle,
  options: RestoreOptions,
  onProgress: (done: number, total?: number) => void,
): Promise<Verdict> {
  const { passphrase, keepEnv, signal, reporter } = options;
  const verdict = await verifySet(set, {
    signal,
    onProgress,
    ...(passphrase === undefined || keepEnv === true ? {} : { passphrase }),
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
  return verdict;
}

/** @throws IDKIT_SERVICE_RUNNING */
export async function checkServiceStopped(settings: Settings): Promise<void> {
  const address = await (await openRuntime(settings)).baseUrl();
  if (address !== undefined) throw serviceRuns(address);
}

/** @throws IDKIT_VERSION where the dump is of another kind than the target's database */
export async function checkKind(settings: Settings, set: SetHandle, verdict: Verdict): Promise<void> {
  const target = (await openRuntime(settings)).describe().database;
  const kind = verdict.dump?.kind;
  if (kind === undefined || kind === target) return;
  throw new IdkitError(
    'IDKIT_VERSION',
    `${set.name} holds a dump of ${kind}, and this platform runs on ${target}`,
    {
      hints: ['nothing was touched', 'restore it into a platform whose idkit.yaml names such a database'],
    },
  );
}

/** The plan of the restore, once there is room for it. @throws IDKIT_NO_SPACE */
export async function planRestore(job: RestoreJob, verdict: Verdict): Promise<RestorePlan> {
  const { settings, set } = job;
  const sqlBytes = verdict.dump?.bytes ?? 0;
  const neededBytes =
    Math.max(sqlBytes * DATABASE_PER_SQL_BYTE, verdict.manifest?.database?.bytes ?? 0) + verdict.bytes;
  const { bavail, bsize } = await statfs(await nearestDirectory(settings.dir));
  const freeBytes = bavail * bsize;
  if (freeBytes < neededBytes) {
    throw new IdkitError(
      'IDKIT_NO_SPACE',
      `the restore needs ${renderBytes(neededBytes)} beside the live database, and ${renderBytes(freeBytes)} are free`,
      { hints: ['nothing was touched', `make room on the disk of ${settings.dir}`] },
    );
  }
  return {
    set: set.dir,
    target: settings.dir,
    database: settings.database.kind === 'sqlite' ? settings.database.file : 'postgres',
    realms: job.expectation,
    neededBytes,
    freeBytes,
    steps: RESTORE_STEPS,
  };
}

async function nearestDirectory(path: string): Promise<string> {
  let dir = path;
  while ((await findEntry(dir)) === undefined && dirname(dir) !== dir) dir = dirname(dir);
  return dir;
}

/** What the verdict promises of each realm. */
export function expectedCounts(verdict: Verdict): readonly RealmCount[] {
  return verdict.realms.flatMap(({ realm, users }) => (users === undefined ? [] : [{ realm, users }]));
}
