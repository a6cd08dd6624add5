import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { backupRoot, mirrorTarget } from '../platform.ts';
import type { ProcedureOptions } from '../run.ts';
import { mirrorRoot } from './mirror.ts';
import type { MirrorOptions, MirrorReport } from './options.ts';

export type MirrorBackupsOptions = Pick<ProcedureOptions, 'clock' | 'signal' | 'reporter'> &
  Pick<MirrorOptions, 'readsAll' | 'dryRun'> & {
    /** Default: `backup.mirror`. */
    target?: string;
    root?: string;
    /** Default: `backup.mirrorDelete`. */
    deletes?: boolean;
  };

/** Copies the backup root to a target outside a backup. @throws IDKIT_SETTING without a target */
export async function mirrorBackups(
  settings: Settings,
  options: MirrorBackupsOptions,
): Promise<MirrorReport> {
  const { backup } = settings;
  const target = mirrorTarget(settings, options.target);
  if (target === undefined) {
    throw new IdkitError('IDKIT_SETTING', 'no mirror is configured', {
      hints: ['set backup.mirror in idkit.yaml, or name the target: idkit backups mirror s3://bucket/prefix'],
    });
  }
  const report = await mirrorRoot({
    root: backupRoot(settings, options.root),
    target,
    now: options.clock.now(),
    signal: options.signal,
    keep: backup.mirrorKeep,
    deletes: options.deletes ?? backup.mirrorDelete,
    maxDelete: backup.mirrorMaxDelete,
    ...(options.readsAll === true ? { readsAll: true } : {}),
    ...(options.dryRun === true ? { dryRun: true } : {}),
  });
  // The failure says the same as the last finding.
  const findings = report.failure === undefined ? report.findings : report.findings.slice(0, -1);
  for (const finding of findings) options.reporter.finding(finding);
  return { ...report, findings };
}
