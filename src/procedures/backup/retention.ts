import { join } from 'node:path';
import { addConfigVersion, addEnvironmentVersion, SET_FILES } from '../../backupset/index.ts';
import { type ErrorCode, IdkitError } from '../../core/index.ts';
import { deleteSets, planDeletions } from '../backups/prune.ts';
import { mirrorRoot } from '../mirror/mirror.ts';
import type { MirrorReport } from '../mirror/options.ts';
import { discardKeptStates } from '../restore/old-state.ts';
import type { BackupContents, BackupWork } from './work.ts';

/**
 * Keeps the newest versions of the configuration and the environment next to the sets. A version is added only if it
 * changed. A full disk is a finding.
 */
export async function keepVersions(
  work: BackupWork,
  dir: string,
  contents: BackupContents,
): Promise<{ added: number }> {
  try {
    return await addVersions(work, dir, contents);
  } catch (error) {
    // The set itself is complete and published, so the backup has not failed.
    if (!(error instanceof IdkitError) || !UNWRITABLE.includes(error.code)) throw error;
    work.run.finding(
      'VERSIONS_FAILED',
      `the versions of the configuration or the environment: ${error.message}`,
    );
    return { added: 0 };
  }
}

const UNWRITABLE: readonly ErrorCode[] = ['IDKIT_NO_SPACE', 'IDKIT_DIRECTORY_NOT_WRITABLE'];

async function addVersions(
  work: BackupWork,
  dir: string,
  contents: BackupContents,
): Promise<{ added: number }> {
  const { root, writer, settings, options } = work;
  const { passphrase } = options;
  const keep = settings.backup.keepVersions;
  const { encryption } = writer;
  const version = (name: string) => ({
    keep,
    sha256: writer.files.get(writer.nameOnDisk(name))?.sha256 ?? '',
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(encryption === undefined ? {} : { encryption }),
  });
  let added = 0;
  if (contents.config) {
    const file = join(dir, writer.nameOnDisk(SET_FILES.config));
    const result = await addConfigVersion(root, writer.name, file, version(SET_FILES.config));
    if (result.added !== undefined) added += 1;
  }
  if (contents.env && passphrase !== undefined) {
    const file = join(dir, SET_FILES.environment);
    const result = await addEnvironmentVersion(root, writer.name, file, {
      ...version(SET_FILES.environment),
      passphrase,
    });
    if (result.added !== undefined) added += 1;
  }
  return { added };
}

/**
 * Deletes expired sets and returns their names. After a backup that can be restored, also deletes the previous state
 * that an earlier restore kept.
 */
export async function pruneRoot(work: BackupWork, contents: BackupContents): Promise<readonly string[]> {
  const { root, settings, options } = work;
  const keepDays = options.keepDays ?? settings.backup.keepDays;
  const plan = await planDeletions(root, { now: options.clock.now(), keepDays });
  const deleted = await deleteSets(root, plan, options.signal);
  if (contents.dump !== undefined && contents.env) await discardKeptStates(settings, work.platform);
  return deleted;
}

/** Mirrors the backup root. Each fault is a finding. */
export async function copyToMirror(
  { root, settings, options, run }: Pick<BackupWork, 'root' | 'settings' | 'options' | 'run'>,
  target: string,
): Promise<MirrorReport> {
  const { backup } = settings;
  const report = await mirrorRoot({
    root,
    target,
    now: options.clock.now(),
    signal: options.signal,
    keep: backup.mirrorKeep,
    deletes: backup.mirrorDelete,
    maxDelete: backup.mirrorMaxDelete,
    onProgress: run.progress('mirror', 'bytes'),
  });
  for (const { code, message } of report.findings) run.finding(code, message);
  return report;
}
