import type { JobId, Settings } from '../../../config/index.ts';
import { lockRoot } from '../../locks.ts';
import { mirrorRoot } from '../../mirror/mirror.ts';
import { mirrorTarget } from '../../platform.ts';
import type { ProcedureOptions } from '../../run.ts';
import { argumentsOf, timerOf } from '../timers.ts';
import { type CommandOptions, type CommandResult, runCommand } from './command.ts';

/** What the work of a job needs. */
export type WorkContext = CommandOptions & Pick<ProcedureOptions, 'clock'>;

/** Does the work of a job once. Never throws for a job that failed: the result says how it ended. */
export function doWork(settings: Settings, job: JobId, context: WorkContext): Promise<CommandResult> {
  if (job === 'mirror') return copyRoot(settings, context);
  const words = argumentsOf(timerOf(job), { maxAgeHours: settings.backup.maxAgeHours });
  return runCommand(['--dir', settings.dir, ...words], context);
}

/** Copies the backup root to its mirror. Each fault is a finding. */
async function copyRoot(settings: Settings, context: WorkContext): Promise<CommandResult> {
  const { reporter, signal, clock, onLine } = context;
  const { root } = settings.backup;
  const target = mirrorTarget(settings, undefined);
  if (target === undefined) return { exitCode: 0, findings: [] };
  const lock = await lockRoot(root, 'exclusive', 'schedule run mirror');
  try {
    const { copied, faults } = await mirrorRoot({ root, target, now: clock.now(), signal });
    onLine(`copied ${copied.length} sets and versions`);
    const findings = faults.map((fault) => ({
      code: 'MIRROR_FAILED',
      message: `the mirror ${target}: ${fault}`,
    }));
    for (const finding of findings) {
      reporter.finding(finding);
      onLine(`finding: ${finding.message}`);
    }
    return { exitCode: findings.length === 0 ? 0 : 3, findings };
  } finally {
    await lock.release();
  }
}
