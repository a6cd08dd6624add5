import type { ExitCode } from './exit-codes.ts';

/**
 * Every fault that an operator must act on, by its stable code. Append only: a code is never renamed,
 * renumbered or used again. `exit` is the exit code of contract §3; README's table is compared with this
 * one both ways by a test.
 */
export const ERROR_CATALOGUE = {
  IDKIT_USAGE: { exit: 2, meaning: 'a command, flag or argument is wrong' },
  IDKIT_SETTING: { exit: 2, meaning: 'a setting in a flag, the environment, .env or idkit.yaml is wrong' },
  IDKIT_DIRECTORY_MISSING: { exit: 2, meaning: 'the platform directory does not exist' },
  IDKIT_DIRECTORY_NOT_WRITABLE: { exit: 1, meaning: 'a directory or file cannot be written' },
  IDKIT_ENV_READABLE: { exit: 2, meaning: '.env can be read by other users' },
  IDKIT_MASTER_KEY_MISSING: { exit: 2, meaning: 'IDKIT_MASTER_KEY is not set' },
  IDKIT_MASTER_KEY_INVALID: { exit: 2, meaning: 'IDKIT_MASTER_KEY is not 32 bytes in base64' },
  IDKIT_MASTER_KEY_WRONG: { exit: 12, meaning: 'IDKIT_MASTER_KEY does not open this database' },
  IDKIT_IMPORT: { exit: 2, meaning: 'a realm file cannot be imported' },
  IDKIT_NOT_YET: { exit: 2, meaning: 'the contract names it, and this version does not build it yet' },
  IDKIT_PORT_TAKEN: { exit: 1, meaning: 'the address to listen on is in use' },
  IDKIT_FAILED: { exit: 1, meaning: 'an operation failed; the message says which and why' },
  IDKIT_FINDINGS: { exit: 3, meaning: 'finished, with findings' },
  IDKIT_NOT_FOUND: { exit: 10, meaning: 'a backup, realm, user, client or session does not exist' },
  IDKIT_LOCKED: { exit: 11, meaning: 'another idkit procedure is at work on the same place' },
  IDKIT_SERVICE_RUNNING: { exit: 11, meaning: 'the service runs where it must be stopped' },
  IDKIT_CREDENTIALS: { exit: 12, meaning: 'wrong passphrase or credentials' },
  IDKIT_PASSWORD_METHOD: {
    exit: 12,
    meaning: 'the database server does not check the password in a way that keeps it secret',
  },
  IDKIT_DAMAGED: {
    exit: 13,
    meaning: 'a checksum, archive, dump or realm file of a backup set does not hold',
  },
  IDKIT_DATABASE_DAMAGED: { exit: 13, meaning: 'the database file is damaged' },
  IDKIT_VERSION: {
    exit: 14,
    meaning: 'a program, engine, database or dump is missing, too old, too new or of another kind',
  },
  IDKIT_UNREACHABLE: { exit: 15, meaning: 'the database, service or engine does not answer in time' },
  IDKIT_RESTORE_UNDONE: { exit: 16, meaning: 'the restore failed and the old state is intact' },
  IDKIT_RESTORE_BROKEN: { exit: 17, meaning: 'the restore failed and the operator must act' },
  IDKIT_NO_SPACE: { exit: 19, meaning: 'no room on the disk' },
  IDKIT_CHANGED: { exit: 1, meaning: 'others changed a record each time before a change of it was stored' },
  IDKIT_INTERRUPTED: { exit: 130, meaning: 'interrupted by Ctrl-C' },
  IDKIT_TERMINATED: { exit: 143, meaning: 'ended by SIGTERM' },
  IDKIT_UNSEALED: {
    exit: 2,
    meaning: 'nobody vouches for the backup set: it has no seal, or the seal was not checked',
  },
  IDKIT_BUG: { exit: 70, meaning: 'a bug in idkit' },
} as const satisfies Record<string, { exit: ExitCode; meaning: string }>;

/** A stable `IDKIT_…` code. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/**
 * The operator must act. The message is lower-case without a full stop and names the input, what was
 * expected and where; each hint is one next thing to do.
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

  /** The exit code of contract §3 for this code. */
  get exitCode(): ExitCode {
    return ERROR_CATALOGUE[this.code].exit;
  }
}

/** The `code` of a Node.js system error (`ENOENT`, `ENOSPC`, …), or undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
