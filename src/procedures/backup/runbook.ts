import type { SetPart } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { deleteSets, planDeletions } from '../backups/prune.ts';
import { mirrorRoot } from '../mirror/mirror.ts';
import { backupRoot, checkDefined, checkPlatform, mirrorTarget } from '../platform.ts';
import { discardKeptState } from '../restore/old-state.ts';
import { beginRun } from '../run.ts';
import { keepVerdict } from '../verify/judge-set.ts';
import { archiveConfig, dumpDatabase } from './contents.ts';
import { encryptEnv, findMasterKeyFault, listSettingsFromElsewhere } from './environment.ts';
import { checkKeycloakAnswers, fetchRealms } from './fetch-realms.ts';
import { readBack, writeManifest } from './manifest.ts';
import { openSetInRoot } from './open-set.ts';
import { BACKUP_PARTS, BACKUP_STEPS, type BackupOptions, type BackupResult } from './options.ts';
import { keepVersions } from './retention.ts';
import type { BackupContents, BackupWork, RealmFiles } from './work.ts';

/**
 * Makes one backup set, published by one rename at the end of all that can fail; then prunes and mirrors.
 *
 * @throws IDKIT_SETTING without a passphrase, IDKIT_LOCKED, IDKIT_UNREACHABLE, IDKIT_DAMAGED, IDKIT_NO_SPACE;
 *   nothing is published and nothing pruned then
 */
export async function backup(settings: Settings, options: BackupOptions): Promise<BackupResult> {
  const began = performance.now();
  const parts = chooseParts(options);
  await checkPlatform(settings);
  await checkDefined(settings);
  const run = beginRun(BACKUP_STEPS, options);
  const root = backupRoot(settings, options.to);
  const mirror = mirrorTarget(settings, options.mirror);
  const runtime = await openPlatform(settings);

  const opened = await run.step('open', async () => {
    if (readsDatabase(parts)) await checkKeycloakAnswers(settings, runtime, options);
    return openSetInRoot(root, options);
  });
  if (opened.clockBehind) {
    run.finding(
      'CLOCK_BEHIND',
      'the clock stands behind the newest set; the new set’s name follows that one',
    );
  }
  const { lock, writer, startedAt } = opened;
  const work: BackupWork = { settings, options, run, runtime, root, parts, writer, startedAt };
  try {
    const contents = await makeContents(work);
    await run.step('checksums', () => writeManifest(work, contents));
    const verdict = await run.step('read-back', () => readBack(work));
    const dir = await run.step('publish', () => writer.publish());
    await keepVerdict(root, writer.name, verdict, options);
    await run.step('versions', () => keepVersions(work, dir, contents));
    const pruned = await run.step('prune', () => prune(work, contents), countSets);
    if (mirror !== undefined) await run.step('mirror', () => copyToMirror(work, mirror));
    return {
      dir,
      name: writer.name,
      parts: parts.filter((part) => holds(contents, part)),
      ...(contents.realms === undefined ? {} : { realmSource: contents.realms.source }),
      bytes: [...writer.files.values()].reduce((sum, file) => sum + file.bytes, 0),
      milliseconds: Math.round(performance.now() - began),
      steps: run.durations,
      pruned,
      findings: run.findings,
    };
  } finally {
    await writer.abandon();
    await lock.release();
  }
}

/** The parts of the set in the specification's order. */
async function makeContents(work: BackupWork): Promise<BackupContents> {
  const { run, parts, options, settings } = work;
  const contents: BackupContents = { config: false, env: false };
  if (parts.includes('database')) {
    contents.dump = await run.step(
      'database',
      () => dumpDatabase(work),
      ({ realms }) => `${realms.length} realms`,
    );
  }
  const keyFault = await findKeyFault(work);
  if (keyFault !== undefined) {
    run.finding(
      'MASTER_KEY_UNFIT',
      `the master key does not open the database, so a set made now restores only with the right one: ${keyFault}`,
    );
  }
  if (parts.includes('realms') && (keyFault === undefined || (await work.runtime.baseUrl()) !== undefined)) {
    const realms = await run.step('realms', () => fetchRealms(work, contents.dump), tellRealms);
    if (realms !== undefined) contents.realms = realms;
  }
  if (parts.includes('config')) {
    await run.step(
      'config',
      () => archiveConfig(work),
      ({ entries }) => `${entries} entries`,
    );
    contents.config = true;
  }
  const { passphrase } = options;
  if (parts.includes('env') && passphrase !== undefined) {
    contents.env = (await run.step('env', () => encryptEnv(work, passphrase))) === 'encrypted';
    for (const told of listSettingsFromElsewhere(settings)) {
      run.finding(
        'SETTING_ELSEWHERE',
        `${told}, not from .env, which is all that the set holds; keep it with the passphrase`,
      );
    }
  }
  return contents;
}

/**
 * Looked at where a set is to be restored with the key some day. What holds nothing of the database does not need it:
 * one that does not answer is a note then, and one that refuses the credentials a finding (contract §1).
 */
async function findKeyFault({ parts, runtime, run, options }: BackupWork): Promise<string | undefined> {
  if (!parts.includes('env') && !parts.includes('realms')) return undefined;
  try {
    return await findMasterKeyFault(runtime);
  } catch (error) {
    if (readsDatabase(parts) || !(error instanceof IdkitError)) throw error;
    if (error.code === 'IDKIT_CREDENTIALS') {
      run.finding(
        'DATABASE_REFUSED',
        `the database refuses the credentials in force, so a set made now restores only with the right ones: ${error.message}`,
      );
    } else if (error.code === 'IDKIT_UNREACHABLE' || error.code === 'IDKIT_NOT_FOUND') {
      options.reporter.note(`whether the master key opens the database is not known: ${error.message}`);
    } else throw error;
    return undefined;
  }
}

function readsDatabase(parts: readonly SetPart[]): boolean {
  return parts.includes('database') || parts.includes('realms');
}

function chooseParts(options: BackupOptions): readonly SetPart[] {
  const parts = BACKUP_PARTS.filter((part) => options.only?.includes(part) ?? true);
  if (parts.length === 0) throw new IdkitError('IDKIT_USAGE', '--only names no part of a set');
  if (parts.includes('env') && options.passphrase === undefined) {
    throw new IdkitError('IDKIT_SETTING', 'no passphrase for env.gpg is given', {
      hints: [
        'set IDKIT_BACKUP_PASSPHRASE in the process environment',
        'or IDKIT_BACKUP_PASSPHRASE_FILE to a file that holds it in its first line',
        'or IDKIT_BACKUP_PASSPHRASE_COMMAND to a command that prints it',
      ],
    });
  }
  return parts;
}

/** Deletes old sets, and what an earlier restore kept aside until the next good backup. */
async function prune(work: BackupWork, contents: BackupContents): Promise<readonly string[]> {
  const { root, settings, options } = work;
  const keepDays = options.keepDays ?? settings.backup.keepDays;
  const plan = await planDeletions(root, { now: options.clock.now(), keepDays });
  const deleted = await deleteSets(root, plan, options.signal);
  if (contents.dump !== undefined && contents.env) await discardKeptState(settings, work.runtime);
  return deleted;
}

async function copyToMirror(work: BackupWork, target: string): Promise<void> {
  const { root, options, run } = work;
  const report = await mirrorRoot({ root, target, now: options.clock.now(), signal: options.signal });
  for (const fault of report.faults) run.finding('MIRROR_FAILED', `the mirror ${target}: ${fault}`);
}

function holds(contents: BackupContents, part: SetPart): boolean {
  switch (part) {
    case 'database':
      return contents.dump !== undefined;
    case 'realms':
      return contents.realms !== undefined;
    case 'config':
      return contents.config;
    case 'env':
      return contents.env;
  }
}

function tellRealms(files: RealmFiles | undefined): string {
  if (files === undefined) return 'none';
  return `${files.realms.length} realms from the ${files.source === 'api' ? 'service' : 'snapshot'}`;
}

function countSets(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `${names.length} deleted`;
}
