import { basename } from 'node:path';
import type { ArchiveVerdict } from '../../archive/index.ts';
import { parseSetName, type SetHandle } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { verifyArchive } from '../archive.ts';
import type { DrillResult } from '../drill/options.ts';
import { drill } from '../drill/runbook.ts';
import { keepResult } from '../last-run.ts';
import { isBackupRoot, lockRootIfWritable } from '../locks.ts';
import { beginRun, type Run, withinStep } from '../run.ts';
import { renderAge } from '../units.ts';
import { type FoundSets, findSealedBefore, findSets } from './find-sets.ts';
import { judgeSet } from './judge-set.ts';
import type { SetVerdict, VerifyOptions, VerifyResult } from './options.ts';
import { VERIFY_STEPS } from './options.ts';
import { renderVerdict, worstFault, worstVerdict } from './verdict.ts';

/**
 * Verifies sets from their files alone. A bad set becomes the failure of the result, so the other sets are still read.
 * A missing or outdated backup is a finding.
 *
 * @throws IDKIT_NOT_FOUND for an explicit set that does not exist, IDKIT_LOCKED, IDKIT_SETTING for a drill without a
 *   passphrase
 */
export async function verify(settings: Settings, options: VerifyOptions): Promise<VerifyResult> {
  const { passphrase } = options;
  if (options.drill === true && passphrase === undefined) {
    throw new IdkitError('IDKIT_SETTING', 'a drill decrypts env.gpg, but the passphrase is missing');
  }
  const reads = options.all === true && options.set === undefined && settings.backup.archive !== null;
  const run = beginRun(VERIFY_STEPS, options, (id) => {
    if (id === 'archive') return reads;
    return id !== 'drill' || options.drill === true;
  });
  const found = await run.step(
    'find',
    () => findSets(settings, options),
    ({ sets }) => `${sets.length} to verify`,
  );
  const known = !found.explicit || (await isBackupRoot(found.root, settings));
  const lock = known ? await lockRootIfWritable(found.root, 'shared', 'verify', options.reporter) : undefined;
  const sets: SetVerdict[] = [];
  const report = run.progress('read', 'bytes');
  try {
    await run.step('read', async () => {
      const total = await sumOfSizes(found.sets);
      let before = 0;
      for (const set of found.sets) {
        const keeps = lock !== undefined && parseSetName(basename(set.dir)) !== undefined;
        const onProgress = (done: number) => report(before + done, total);
        const verdict = await judgeSet(set, { ...options, onProgress }, keeps ? found.root : undefined);
        before += verdict.bytes;
        sets.push(verdict);
      }
    });
  } finally {
    await lock?.release();
  }
  checkAge(found, options, run);
  await checkSealed(found, sets, run);
  const archive = reads
    ? await run.step('archive', () => verifyArchive(settings, run.progress('archive', 'bytes')))
    : undefined;
  const failure = archiveFault(archive) ?? worstFault(sets);
  if (lock !== undefined) {
    const verdict = worstVerdict(sets);
    const facts = {
      ...(found.newest === undefined ? {} : { set: found.newest.name }),
      ...(verdict === undefined ? {} : { verdict }),
    };
    const { findings } = run;
    const ended = failure === undefined ? { findings } : { findings, failure };
    await keepResult(found.root, ['verify'], { ...ended, ...facts }, options);
  }
  const result = {
    sets,
    verdict: renderVerdict(found, sets),
    ...(archive === undefined ? {} : { archive }),
  };
  const target = found.explicit ? sets[0] : sets.find(({ name }) => name === found.newest?.name);
  if (options.drill !== true || failure !== undefined || target === undefined) {
    return { ...result, findings: run.findings, ...(failure === undefined ? {} : { failure }) };
  }
  let drilled: DrillResult;
  try {
    drilled = await run.step(
      'drill',
      () => drill(settings, { ...options, set: target.dir, reporter: withinStep(options.reporter, 'drill') }),
      ({ outcome }) => outcome,
    );
  } catch (error) {
    // The set is intact, so the result keeps its verdict.
    if (!(error instanceof IdkitError) || error.code !== 'IDKIT_UNSEALED') throw error;
    return { ...result, findings: run.findings, failure: error };
  }
  return {
    ...result,
    drill: drilled,
    findings: [...run.findings, ...drilled.findings],
    ...(drilled.failure === undefined ? {} : { failure: drilled.failure }),
  };
}

/** Returns the error for a damaged archive. It names each file. */
function archiveFault(archive: ArchiveVerdict | undefined): IdkitError | undefined {
  if (archive === undefined || archive.problems.length === 0) return undefined;
  const [first = '', ...more] = archive.problems;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more problems)`;
  return new IdkitError('IDKIT_DAMAGED', `${first}${rest}`, {
    hints: [
      ...more.slice(0, 20),
      'a new base begins when idkit serve starts without data/archive.json; moments before the damage stay restorable',
    ],
  });
}

/** Returns the total size in bytes of the sets. A file that cannot be read counts as empty; its set reports it. */
async function sumOfSizes(sets: readonly SetHandle[]): Promise<number> {
  const sizes = sets.flatMap((set) =>
    set.names.map((name) =>
      set.size(name).catch((error: unknown) => {
        if (error instanceof IdkitError) return 0;
        throw error;
      }),
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Reports a finding if the newest set is unsealed although an earlier set is sealed. */
async function checkSealed(
  found: FoundSets,
  sets: readonly SetVerdict[],
  run: Run<(typeof VERIFY_STEPS)[number]['id']>,
): Promise<void> {
  const latest = sets.find(({ name }) => name === found.newest?.name);
  if (latest?.seal !== 'unsealed') return;
  const before = await findSealedBefore(found);
  if (before === undefined) return;
  run.finding(
    'SET_UNSEALED',
    `the newest backup, ${latest.name}, is unsealed although the earlier ${before} is sealed: it was created without a passphrase or by another person`,
  );
}

/** Reports a missing, outdated or future-dated set as a finding. */
function checkAge(
  found: FoundSets,
  options: VerifyOptions,
  run: Run<(typeof VERIFY_STEPS)[number]['id']>,
): void {
  for (const name of found.future) {
    run.finding('SET_IN_FUTURE', `${name} is dated more than an hour ahead of the clock`);
  }
  const { newest } = found;
  if (newest === undefined) {
    if (!found.explicit) {
      run.finding('BACKUP_MISSING', `${found.root} has no backup set that can be restored`);
    } else if (options.maxAgeSeconds !== undefined) {
      run.finding(
        'AGE_UNKNOWN',
        `the name ${found.sets[0]?.name} is not a time, so the age of the set is unknown`,
      );
    }
    return;
  }
  const age = Math.floor((options.clock.now() - newest.startedAt) / 1000);
  if (options.maxAgeSeconds !== undefined && age > options.maxAgeSeconds) {
    run.finding(
      'BACKUP_TOO_OLD',
      `the newest backup, ${newest.name}, is ${renderAge(age)} old, but the limit is ${renderAge(options.maxAgeSeconds)}`,
    );
  }
}
