import type { JobId, Settings } from '../../../config/index.ts';
import type { ProcedureOptions } from '../../run.ts';
import { argumentsOf, timerOf } from '../timers.ts';
import { type CommandOptions, type CommandResult, runCommand } from './command.ts';

/** What the work of a job needs. */
export type WorkContext = CommandOptions & Pick<ProcedureOptions, 'clock'>;

/** Does the work of a job once. Never throws for a job that failed: the result says how it ended. */
export function doWork(settings: Settings, job: JobId, context: WorkContext): Promise<CommandResult> {
  const words = argumentsOf(timerOf(job), { maxAgeHours: settings.backup.maxAgeHours });
  return runCommand(['--dir', settings.dir, ...words], context);
}
