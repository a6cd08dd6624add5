import { readDump } from '../../backupset/index.ts';
import { checkMasterKey } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { RealmCount, SideDatabase } from '../../platform/index.ts';
import type { StagedRestore } from './work.ts';

/** Loads the dump into a side database; the live one is untouched (spec steps 3 and 4). */
export async function loadSide(staged: StagedRestore): Promise<void> {
  const { job, next } = staged;
  const { signal } = job.options;
  const { notes = [] } = await next.runtime.loadDatabase(readDump(job.set, { signal }), {
    id: job.id,
    masterKey: masterKeyOf(staged),
    signal,
    inPlace: staged.journal.inPlace !== undefined,
    onProgress: job.run.progress('load', 'bytes'),
  });
  for (const note of notes) job.options.reporter.note(note);
}

/**
 * Integrity, master key and schema; then the counts against what the set promises.
 *
 * @throws IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG
 */
export async function checkSide(staged: StagedRestore): Promise<SideDatabase> {
  const { job, next } = staged;
  const side = await next.runtime.checkLoaded(job.id, masterKeyOf(staged), {
    inPlace: staged.journal.inPlace !== undefined,
    signal: job.options.signal,
  });
  const differences = compareCounts(job.expectation, side.realms);
  if (differences.length === 0) return side;
  throw new IdkitError(
    'IDKIT_DAMAGED',
    `the loaded database differs from the set: ${differences.join('; ')}`,
  );
}

/** Each difference in words; empty where both hold the same realms with the same numbers of users. */
export function compareCounts(
  expected: readonly RealmCount[],
  found: readonly RealmCount[],
): readonly string[] {
  // A set without manifest whose dump tells no realms promises nothing.
  if (expected.length === 0) return [];
  const differences: string[] = [];
  for (const { realm, users } of expected) {
    const other = found.find((count) => count.realm === realm);
    if (other === undefined) differences.push(`the realm ${realm} is missing`);
    else if (other.users !== users) {
      differences.push(`the realm ${realm} has ${other.users} users, and ${users} were expected`);
    }
  }
  for (const { realm } of found) {
    if (!expected.some((count) => count.realm === realm))
      differences.push(`the realm ${realm} was not expected`);
  }
  return differences;
}

/** Keycloak seals nothing with one. */
function masterKeyOf({ next }: StagedRestore): Secret | undefined {
  return next.settings.service === 'keycloak' ? undefined : checkMasterKey(next.settings.masterKey);
}
