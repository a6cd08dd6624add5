import { type ExitCode, IdkitError, systemErrorCode } from '../core/index.ts';
import type { Outcome } from './command.ts';

/** The exit code of a command that came to its end: a failure wins over findings, findings over 0. */
export function exitCodeOf(outcome: Outcome): ExitCode {
  if (outcome.failure !== undefined) return outcome.failure.exitCode;
  return (outcome.findings?.length ?? 0) > 0 ? 3 : 0;
}

/**
 * Any thrown value as the error that an operator sees. An interrupt surfaces as whatever the broken-off call
 * throws, so the signal's reason wins; a full disk can meet any write; everything unknown is a bug (70).
 */
export function toIdkitError(error: unknown, signal: AbortSignal): IdkitError {
  if (error instanceof IdkitError) return error;
  if (signal.aborted && signal.reason instanceof IdkitError) return signal.reason;
  const code = systemErrorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new IdkitError('IDKIT_NO_SPACE', message, { cause: error });
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', message, { cause: error });
  }
  return new IdkitError('IDKIT_BUG', message === '' ? 'an error without a message' : message, {
    hints: ['this is a bug in idkit; please report it with the lines below'],
    cause: error,
  });
}
