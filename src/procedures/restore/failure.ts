import { type ErrorCode, IdkitError } from '../../core/index.ts';
import { isEmptied, type Journal, journalFile } from './journal.ts';
import { type OldState, rollBack } from './old-state.ts';
import { startAgain } from './services.ts';
import { databasePasswords } from './settings-after.ts';
import type { Restore, RestoreStepId } from './work.ts';

/** Errors that keep their code after a rollback, because it is more specific than IDKIT_RESTORE_UNDONE. */
const OWN_CODES: readonly ErrorCode[] = [
  'IDKIT_USAGE',
  'IDKIT_DAMAGED',
  'IDKIT_VERSION',
  'IDKIT_CREDENTIALS',
  'IDKIT_MASTER_KEY_WRONG',
  'IDKIT_MASTER_KEY_MISSING',
  'IDKIT_MASTER_KEY_INVALID',
  'IDKIT_NO_SPACE',
  'IDKIT_LOCKED',
  'IDKIT_SERVICE_RUNNING',
  'IDKIT_INTERRUPTED',
  'IDKIT_TERMINATED',
];

/** Errors that keep their code even if the rollback follows the swap. */
const OWN_CODES_AFTER_SWAP: readonly ErrorCode[] = [
  'IDKIT_NO_SPACE',
  'IDKIT_INTERRUPTED',
  'IDKIT_TERMINATED',
];

/**
 * Rolls the restore back after `error`, starts the services that the restore stopped, and returns the final error. This
 * is `error` itself if its code is more specific, otherwise IDKIT_RESTORE_UNDONE (exit code 16). If the rollback fails
 * too, it is IDKIT_RESTORE_BROKEN (exit code 17).
 */
export async function rollBackAfter(
  error: unknown,
  step: RestoreStepId,
  restore: Restore,
): Promise<IdkitError> {
  const { settings, dataDir, journal, next } = restore;
  if (isEmptied(journal)) return failedWithoutReturn(error, step, restore);
  const env = restore.options.env ?? process.env;
  try {
    const { before } = await databasePasswords(settings, { dir: settings.dir, id: journal.id }, env);
    const oldState: OldState = {
      dir: settings.dir,
      dataDir,
      journal,
      platform: next.platform,
      databasePassword: before,
    };
    await next.platform.service.stop();
    await rollBack(oldState);
  } catch (rollBackError) {
    if (isUnreachableBeforeSwap(journal, rollBackError)) return leftBehind(error, step, rollBackError);
    const file = journalFile(dataDir, journal.id);
    return new IdkitError(
      'IDKIT_RESTORE_BROKEN',
      `the restore failed at "${step}" (${messageOf(error)}), and the rollback failed too (${messageOf(rollBackError)}); the journal is ${file}`,
      { cause: error, hints: ['idkit restore --abort repeats the rollback'] },
    );
  }
  const hints = [
    ...(error instanceof IdkitError ? error.hints : []),
    ...(await startStopped(journal, () => startAgain(settings, env))),
  ];
  const own = journal.state === 'staging' ? OWN_CODES : OWN_CODES_AFTER_SWAP;
  if (error instanceof IdkitError && own.includes(error.code)) {
    return new IdkitError(error.code, error.message, {
      cause: error,
      hints: [...hints, 'the old state is intact'],
    });
  }
  return new IdkitError(
    'IDKIT_RESTORE_UNDONE',
    `the restore failed at "${step}" and was rolled back to the old state: ${messageOf(error)}`,
    { cause: error, hints },
  );
}

/**
 * Returns the error for an interrupt of the last checks. The restored state stays, and hints explain how to continue or
 * roll back.
 */
export function keepRestored(error: unknown): unknown {
  if (!(error instanceof IdkitError)) return error;
  return new IdkitError(error.code, `${error.message}; the restored state is in place`, {
    cause: error,
    hints: [
      ...error.hints,
      'idkit restore --resume runs the last checks again',
      'idkit restore --abort rolls back to the state before the restore',
    ],
  });
}

/**
 * True if a rollback failed before the swap because the server is unreachable. The only trace on the server is then a
 * staged database that no program uses.
 */
function isUnreachableBeforeSwap(journal: Journal, error: unknown): error is IdkitError {
  return journal.state === 'staging' && error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
}

function leftBehind(error: unknown, step: RestoreStepId, unreachable: IdkitError): IdkitError {
  return new IdkitError(
    'IDKIT_RESTORE_UNDONE',
    `the restore failed at "${step}" before it changed the old state: ${messageOf(error)}`,
    {
      cause: error,
      hints: [
        `the staged database could not be removed: ${unreachable.message}`,
        'idkit restore --abort or the next restore removes it when the server is reachable',
      ],
    },
  );
}

/**
 * Returns the error for a failure after `--in-place` emptied the live database. The restore can then only be resumed or
 * repeated.
 */
async function failedWithoutReturn(
  error: unknown,
  step: RestoreStepId,
  { next, dataDir, journal }: Restore,
): Promise<IdkitError> {
  await next.platform.service.stop();
  const interrupted = error instanceof IdkitError && /^IDKIT_(INTERRUPTED|TERMINATED)$/.test(error.code);
  return new IdkitError(
    interrupted ? error.code : 'IDKIT_RESTORE_BROKEN',
    `the restore failed at "${step}" after it emptied the live database: ${messageOf(error)}; the journal is ${journalFile(dataDir, journal.id)}`,
    {
      cause: error,
      hints: [
        'idkit restore --resume loads the set again',
        'idkit restore --in-place --confirm NAME --from DIR loads another set',
      ],
    },
  );
}

/** Starts the services that the restore stopped. Returns a hint if that fails. */
async function startStopped(journal: Journal, start: () => Promise<void>): Promise<readonly string[]> {
  if (journal.ran !== true) return [];
  try {
    await start();
    return [];
  } catch (error) {
    return [`the platform did not start again (${messageOf(error)}); idkit up starts it`];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
