import type { ExitCode } from './catalogue.ts';
import { ERROR_CATALOGUE, type ErrorCode } from './catalogue.ts';

/**
 * An error that the operator must act on. Any other thrown value is a bug. The message is in lower case without a full
 * stop, and says what happened, with which input and what was expected. Each hint is one action that the operator can
 * take.
 */
export class IdkitError extends Error {
  override readonly name = 'IdkitError';
  readonly code: ErrorCode;
  readonly hints: readonly string[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { hints?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hints = options.hints ?? [];
  }

  get exitCode(): ExitCode {
    return ERROR_CATALOGUE[this.code].exit;
  }
}

/** Returns the message of a thrown value, even if it is not an Error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the `code` of a Node.js system error (`ENOENT`, `ENOSPC`, …), or undefined for any other value. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
