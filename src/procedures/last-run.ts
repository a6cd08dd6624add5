import { type KeptRun, type LastRun, putLastRun } from '../backupset/index.ts';
import { type ErrorCode, IdkitError } from '../core/index.ts';
import type { ProcedureOptions, ProcedureResult } from './run.ts';

/** Errors after which the previous result stays: the run has not begun, or the operator ended it. */
const NOT_KEPT: ReadonlySet<ErrorCode> = new Set([
  'IDKIT_USAGE',
  'IDKIT_LOCKED',
  'IDKIT_INTERRUPTED',
  'IDKIT_TERMINATED',
]);

type Keeping = Pick<ProcedureOptions, 'clock' | 'reporter'>;

/** The facts of a result that are stored in addition to its findings. */
type ResultFacts = Pick<LastRun, 'set' | 'verdict' | 'mirror' | 'milliseconds'>;

/**
 * Stores the result of a run in the backup root, so that `status` and metrics can show it. A root that cannot be
 * written is a note.
 */
export async function keepResult(
  root: string,
  runs: readonly KeptRun[],
  { findings, failure, ...facts }: ProcedureResult & ResultFacts,
  { clock, reporter }: Keeping,
): Promise<void> {
  const last: LastRun = {
    at: new Date(clock.now()).toISOString(),
    outcome: failure !== undefined ? 'failed' : findings.length > 0 ? 'findings' : 'good',
    ...facts,
    findings,
    ...(failure === undefined ? {} : { failure: { code: failure.code, message: failure.message } }),
  };
  try {
    for (const run of runs) await putLastRun(root, run, last);
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    reporter.note(`the result could not be stored in ${root}: ${error.message}`);
  }
}

/** Runs `work` and stores its error, if it throws one that says something about the backup root or the platform. */
export async function keepFailure<T>(
  root: string,
  runs: readonly KeptRun[],
  options: Keeping,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IdkitError && !NOT_KEPT.has(error.code))
      await keepResult(root, runs, { findings: [], failure: error }, options);
    throw error;
  }
}
