import type { Settings } from '../../config/index.ts';
import { type ErrorCode, IdkitError, type Secret } from '../../core/index.ts';
import type { Platform } from '../../platform/index.ts';
import { type Journal, journalFile, listJournals, putJournal, removeJournal } from './journal.ts';
import { bringBackItems, discardItems } from './replace-files.ts';
import { removeStarted, startDatabase, stopRestored } from './services.ts';
import { dataDirectory } from './settings-after.ts';

/** Faults that keep their own code: they say better than "undone" what to do, and imply that all is as before. */
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

/** Of these, the ones that still say enough once something had been swapped. */
const OWN_CODES_AFTER_SWAP: readonly ErrorCode[] = [
  'IDKIT_NO_SPACE',
  'IDKIT_INTERRUPTED',
  'IDKIT_TERMINATED',
];

/** What is brought back, and where. */
export interface Undoable {
  dir: string;
  dataDir: string;
  journal: Journal;
  runtime: Platform;
  /** What the database's role had before; undefined where that is not known or did not change. */
  databasePassword?: Secret | undefined;
}

/** The live database was, or may be, emptied for a restore in place: nothing leads back. */
export function isEmptied(journal: Journal): boolean {
  return journal.inPlace !== undefined && (journal.state === 'swapping' || journal.state === 'swapped');
}

/**
 * Brings the old state back whole and removes every trace of the restore. The journal says so first: cut off in the
 * middle, only a second call leads on.
 */
export async function bringBack(undoable: Undoable): Promise<void> {
  const { dir, dataDir, journal, runtime, databasePassword: password } = undoable;
  const places = { dir, id: journal.id };
  const undoing: Journal = journal.state === 'staging' ? journal : { ...journal, state: 'undoing' };
  if (journal.state !== 'staging') {
    await putJournal(dataDir, undoing);
    await stopRestored(runtime);
  }
  const touched = journal.touched !== false;
  if (touched) await startDatabase(runtime, dir, journal.id, new AbortController().signal);
  if (touched) await runtime.unswapDatabase(journal.id, { password });
  await bringBackItems(places, journal.items);
  if (touched) await runtime.discardDatabase(journal.id, { old: false });
  // Without a definition nobody could stop what the restore started.
  if (journal.items.some(({ name, had }) => name === 'compose.yaml' && !had)) await removeStarted(runtime);
  // Nor could a second call, once what was staged is gone, reach the database.
  if (touched) await putJournal(dataDir, { ...undoing, touched: false });
  await discardItems(places, journal.items, { old: false });
  await removeJournal(dataDir, journal.id);
}

/** Brings back the files alone, for another restore in place of the same database. */
export async function bringBackFiles({ dir, dataDir, journal }: Undoable): Promise<void> {
  const places = { dir, id: journal.id };
  await bringBackItems(places, journal.items);
  await discardItems(places, journal.items, { old: false });
  await removeJournal(dataDir, journal.id);
}

/**
 * Brings the old state back after `error` and gives the error to end with: the fault's own where it says more, else
 * IDKIT_RESTORE_UNDONE (16); IDKIT_RESTORE_BROKEN (17) where bringing back failed as well. `serveAgain` starts what the
 * restore had stopped.
 */
export async function undoAfter(
  error: unknown,
  step: string,
  undoable: Undoable,
  serveAgain: () => Promise<void>,
): Promise<IdkitError> {
  const { dataDir, journal } = undoable;
  if (isEmptied(journal)) return emptied(error, step, undoable);
  try {
    await undoable.runtime.stop();
    await bringBack(undoable);
  } catch (second) {
    if (isUntouched(journal, second)) return untouched(error, step, second);
    const file = journalFile(dataDir, journal.id);
    return new IdkitError(
      'IDKIT_RESTORE_BROKEN',
      `the restore failed at "${step}" (${tell(error)}), and the old state could not be brought back (${tell(second)}); journal ${file}`,
      { cause: error, hints: ['idkit restore --abort tries again to bring the old state back'] },
    );
  }
  const hints = [
    ...(error instanceof IdkitError ? error.hints : []),
    ...(await tryAgain(journal, serveAgain)),
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
    `the restore failed at "${step}", and the old state is back: ${tell(error)}`,
    { cause: error, hints },
  );
}

/** The server is gone, and before the swap there is nothing on it but a side database that nobody uses. */
function isUntouched(journal: Journal, error: unknown): error is IdkitError {
  return journal.state === 'staging' && error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
}

function untouched(error: unknown, step: string, unreachable: IdkitError): IdkitError {
  return new IdkitError(
    'IDKIT_RESTORE_UNDONE',
    `the restore failed at "${step}", and the old state was not touched: ${tell(error)}`,
    {
      cause: error,
      hints: [
        `what was loaded beside it could not be removed: ${unreachable.message}`,
        'idkit restore --abort removes it once the server answers, and so does the next restore',
      ],
    },
  );
}

/** In place there is no way back, only forward. */
async function emptied(error: unknown, step: string, undoable: Undoable): Promise<IdkitError> {
  await undoable.runtime.stop();
  const hints = [
    'idkit restore --resume loads the set again',
    'idkit restore --in-place --confirm NAME --from DIR loads another set',
  ];
  const file = journalFile(undoable.dataDir, undoable.journal.id);
  const interrupted = error instanceof IdkitError && /^IDKIT_(INTERRUPTED|TERMINATED)$/.test(error.code);
  return new IdkitError(
    interrupted ? error.code : 'IDKIT_RESTORE_BROKEN',
    `the restore failed at "${step}" after the live database was emptied for it: ${tell(error)}; journal ${file}`,
    { cause: error, hints },
  );
}

/** Starts what the restore had stopped, on the old state; a hint tells where that fails. */
async function tryAgain(journal: Journal, serveAgain: () => Promise<void>): Promise<readonly string[]> {
  if (journal.ran !== true) return [];
  try {
    await serveAgain();
    return [];
  } catch (error) {
    return [`the platform did not start again (${tell(error)}); idkit up starts it`];
  }
}

function tell(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Removes what a restore kept aside. The journal says first that the restored state is proven: cut off in the
 * middle, nothing may lead back to half an old state.
 */
export async function discardOldState(undoable: Undoable, except: readonly string[] = []): Promise<void> {
  const { dir, dataDir, journal, runtime } = undoable;
  await putJournal(dataDir, { ...journal, state: 'done' });
  await runtime.discardDatabase(journal.id, { old: true });
  await discardItems({ dir, id: journal.id }, journal.items, { old: true, except });
  await removeJournal(dataDir, journal.id);
}

/**
 * Removes what restores with red late checks kept aside: it is kept until `--abort` or the next good backup
 * (contract §3, restore). Finishes removals that were cut off.
 */
export async function discardKeptState(settings: Settings, runtime: Platform): Promise<void> {
  const dataDir = dataDirectory(settings);
  for (const journal of await listJournals(dataDir)) {
    if (journal.state !== 'kept' && journal.state !== 'done') continue;
    await discardOldState({ dir: settings.dir, dataDir, journal, runtime });
  }
}
