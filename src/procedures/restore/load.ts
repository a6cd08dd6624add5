import { readDump, SET_FILES } from '../../backupset/index.ts';
import { checkMasterKey } from '../../config/index.ts';
import { IdkitError, renderCount, type Secret } from '../../core/index.ts';
import type { FoundMoment, RealmCount } from '../../platform/index.ts';
import { replaceItems } from './files-in-place.ts';
import { stopServices } from './services.ts';
import { type Restore, record } from './work.ts';

/** Loads the dump into a staged database. With `--in-place` it empties and loads the live one. */
export async function loadDump(restore: Restore): Promise<undefined> {
  const { set, next, run, options } = restore;
  const { signal, reporter } = options;
  await stopServices(restore);
  const { inPlace } = restore.journal;
  if (inPlace !== undefined) {
    // Verifies the dump again before the live database is emptied, because it may have changed in the meantime. The
    // load itself verifies it once more.
    await readToEnd(set.stream(SET_FILES.dump, { signal }));
    await record(restore, { state: 'swapping' });
    reporter.note(`the database ${inPlace} is being emptied; its previous content cannot be recovered`);
  }
  const { moment } = restore.journal;
  if (moment !== undefined) return loadMoment(restore, moment);
  // The verification counted the bytes of SQL in the dump.
  const total = restore.verified.verdict.dump?.bytes;
  const report = run.progress('load', 'bytes');
  const { notes = [] } = await next.platform.database.load(readDump(set, { signal }), {
    id: restore.journal.id,
    masterKey: masterKeyOf(restore),
    signal,
    inPlace: inPlace !== undefined,
    onProgress: (done) => report(done, total),
  });
  for (const note of notes) reporter.note(note);
}

/** Rebuilds the database of a moment from the archive. */
async function loadMoment(restore: Restore, moment: FoundMoment): Promise<undefined> {
  const { next, run, options, journal } = restore;
  const { database } = next.platform;
  const report = run.progress('load', 'bytes');
  if (database.loadMoment === undefined) throw new IdkitError('IDKIT_BUG', 'the database has no archive');
  await database.loadMoment(moment, {
    id: journal.id,
    masterKey: masterKeyOf(restore),
    signal: options.signal,
    onProgress: (done) => report(done),
  });
  options.reporter.note(`the database is the one of ${new Date(moment.at).toISOString()}`);
}

async function readToEnd(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source);
}

/**
 * Checks integrity, master key, schema and user counts of the staged database.
 *
 * @throws IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG
 */
export async function checkStaged(restore: Restore): Promise<undefined> {
  const { next, journal, options } = restore;
  const staged = await next.platform.database.checkLoaded(journal.id, masterKeyOf(restore), {
    inPlace: journal.inPlace !== undefined,
    signal: options.signal,
  });
  if (journal.moment !== undefined) {
    // The set was made at another time, so only the loaded database says what the service must show.
    await record(restore, { expectation: staged.realms });
    return undefined;
  }
  const differences = compareCounts(journal.expectation, staged.realms);
  if (differences.length > 0)
    throw new IdkitError(
      'IDKIT_DAMAGED',
      `the loaded database differs from the set: ${differences.join('; ')}`,
    );
}

/** Renames first the database and then the files into place. A resumed restore repeats the call. */
export async function swap({ next, settings, journal }: Restore): Promise<undefined> {
  await next.platform.database.swap(journal.id, { inPlace: journal.inPlace !== undefined });
  await replaceItems({ dir: settings.dir, id: journal.id }, journal.items);
}

/** Compares realms and user counts, and returns each difference as a sentence. */
export function compareCounts(
  expected: readonly RealmCount[],
  actual: readonly RealmCount[],
): readonly string[] {
  // A set without a manifest and without user counts in its dump has no expected counts.
  if (expected.length === 0) return [];
  const differences: string[] = [];
  for (const { realm, users } of expected) {
    const other = actual.find((count) => count.realm === realm);
    if (other === undefined) differences.push(`the realm ${realm} is missing`);
    else if (other.users !== users) {
      differences.push(
        `the realm ${realm} has ${renderCount(other.users, 'user')}, but the expected number is ${users}`,
      );
    }
  }
  for (const { realm } of actual) {
    if (!expected.some((count) => count.realm === realm))
      differences.push(`the realm ${realm} was not expected`);
  }
  return differences;
}

/** Returns the master key of the restored platform, or undefined for Keycloak, which does not use one. */
function masterKeyOf({ next }: Restore): Secret | undefined {
  return next.settings.service === 'keycloak' ? undefined : checkMasterKey(next.settings.masterKey);
}
