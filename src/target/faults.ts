import { IdkitError, systemErrorCode } from '../core/index.ts';

/** What a target reports about a single file. */
export type TargetFileReason = 'TARGET_FILE_MISSING' | 'TARGET_FILE_EXISTS';

/** The error for a file that is missing, or that exists although `onlyNew` was set. */
export class TargetFileFault extends IdkitError {
  readonly reason: TargetFileReason;

  constructor(reason: TargetFileReason, label: string, name: string, cause?: unknown) {
    const missing = reason === 'TARGET_FILE_MISSING';
    super(
      missing ? 'IDKIT_NOT_FOUND' : 'IDKIT_FAILED',
      `${label}: ${printable(name)} ${missing ? 'does not exist' : 'exists already'}`,
      cause === undefined ? {} : { cause },
    );
    this.reason = reason;
  }
}

/** Reports whether an error is this fault of a single file of a target. */
export function isTargetFault(error: unknown, reason: TargetFileReason): boolean {
  return error instanceof TargetFileFault && error.reason === reason;
}

/** Returns the error for a target that sends something that no honest target sends. */
export function hostile(label: string, what: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `${label}: ${what}`, {
    hints: ['check who else can write to the target, then run idkit backups mirror again'],
  });
}

/** Returns the error for a target that does not respond, or whose connection ended. */
export function unreachable(label: string, why: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', `${label}: ${why}`, cause === undefined ? {} : { cause });
}

/** Renders a text from a target as one short printable word. */
export function printable(text: string, longest = 120): string {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  const plain = /^[\w./@:+%=-]+$/.test(short);
  if (plain) return short;
  return JSON.stringify(short).replaceAll(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Reports whether a system error means that the other side or the network is at fault, so that a retry may help. */
export function isNetworkError(error: unknown): boolean {
  return NETWORK_ERRORS.has(systemErrorCode(error) ?? '');
}

const NETWORK_ERRORS = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
