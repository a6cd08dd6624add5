import { type KeptRun, type LastRun, putLastRun } from '../backupset/index.ts';
import type { Settings } from '../config/index.ts';
import { type ErrorCode, IdkitError } from '../core/index.ts';
import type { Finding, ProcedureOptions, ProcedureResult } from './run.ts';

/** Errors after which the previous result stays: the run has not begun, or the operator ended it. */
const NOT_KEPT: ReadonlySet<ErrorCode> = new Set([
  'IDKIT_USAGE',
  'IDKIT_LOCKED',
  'IDKIT_INTERRUPTED',
  'IDKIT_TERMINATED',
]);

interface Keeping extends Pick<ProcedureOptions, 'clock' | 'reporter'> {
  /**
   * Stores codes without messages, because messages can name realms. A root of encrypted sets must not reveal them.
   * Default: false.
   */
  withoutMessages?: boolean;
}

/** The text that replaces a message. */
export const NO_MESSAGE = 'the message is not stored, because the sets of this root are encrypted';

/** True if the settings require that whole sets are encrypted. */
export function encryptsSets({
  backup,
}: {
  backup: Pick<Settings['backup'], 'encrypt' | 'encryptTo'>;
}): boolean {
  return backup.encrypt === 'all' || backup.encryptTo.length > 0;
}

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
  { clock, reporter, withoutMessages = false }: Keeping,
): Promise<void> {
  const stored = ({ code, message }: Finding) => ({ code, message: withoutMessages ? NO_MESSAGE : message });
  const last: LastRun = {
    at: new Date(clock.now()).toISOString(),
    outcome: failure !== undefined ? 'failed' : findings.length > 0 ? 'findings' : 'good',
    ...facts,
    findings: findings.map(stored),
    ...(failure === undefined ? {} : { failure: stored(failure) }),
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
