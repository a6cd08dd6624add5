import { type ExitCode, IdkitError, systemErrorCode } from '../core/index.ts';
import { SYSTEM_ERRORS } from '../files/index.ts';
import type { Outcome } from './command.ts';

/** Returns the exit code of a command that did not throw. A failure takes precedence over findings. */
export function exitCodeOf(outcome: Outcome): ExitCode {
  if (outcome.failure !== undefined) return outcome.failure.exitCode;
  return (outcome.findings?.length ?? 0) > 0 ? 3 : 0;
}

/**
 * Converts any thrown value to the error that the operator sees. An interrupted call can throw anything, so the reason
 * of the signal replaces its error. A full disk can make any write fail, so system errors have their own codes. All
 * other errors are bugs (exit code 70).
 */
export function toIdkitError(error: unknown, signal: AbortSignal): IdkitError {
  if (error instanceof IdkitError) return error;
  if (signal.aborted && signal.reason instanceof IdkitError) return signal.reason;
  const code = systemErrorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const known = SYSTEM_ERRORS.get(code ?? '');
  if (known !== undefined) return new IdkitError(known, message, { cause: error });
  return new IdkitError('IDKIT_BUG', message === '' ? 'an unknown error without a message' : message, {
    hints: ['this is a bug in idkit; please report it with the stack trace below'],
    cause: error,
  });
}
