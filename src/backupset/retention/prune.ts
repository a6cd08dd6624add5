import { lstat, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { IdkitError, renderCount, systemErrorCode } from '../../core/index.ts';
import { syncDirectory, writing } from '../../files/index.ts';
import type { ListedSet, Manifest, PrunableSet, PruneStep, SetHandle } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

import { CHECKSUMS_MAX_BYTES, parseChecksums } from '../set/checksums.ts';
import { encryptedName } from '../set/encrypted-names.ts';
import { openSet } from '../set/handle.ts';
import { listSets, trashName } from '../set/list-sets.ts';
import { MANIFEST_MAX_BYTES, parseManifest } from '../set/manifest.ts';
import { parseSetName } from '../set/names.ts';
import { findVerdict, removeVerdict } from '../verify/kept-verdicts.ts';

const DAY_MILLISECONDS = 86_400_000;

/**
 * Collects what the retention rule needs to know about each set: the stored verdict, whether the checksums list exactly
 * its files, and whether the files have the sizes in its manifest. It does not read the content of files.
 */
export async function judgeSets(root: string, sets: readonly ListedSet[]): Promise<readonly PrunableSet[]> {
  return Promise.all(
    sets.map(async (set) => {
      const verdict = await findVerdict(root, set.name);
      const { whole, broken } = await shapeOf(set.dir);
      const state =
        broken || verdict?.verdict === 'damaged'
          ? 'bad'
          : verdict?.verdict === 'good' && verdict.isRead !== false
            ? 'verified'
            : 'unverified';
      const shrunk = verdict?.shrunk?.accepted === false;
      return { ...set, whole, state, ...(shrunk ? { shrunk } : {}) };
    }),
  );
}

/**
 * `whole`: the set includes the database. `broken`: the names or sizes of its files are wrong. A broken set counts as
 * whole unless its manifest denies that, because damage to the newest set must be reported, not ignored.
 */
async function shapeOf(dir: string): Promise<{ whole: boolean; broken: boolean }> {
  let whole = true;
  try {
    const set = await openSet(dir);
    const manifest = set.names.includes(SET_FILES.manifest)
      ? parseManifest(await set.read(SET_FILES.manifest, MANIFEST_MAX_BYTES))
      : undefined;
    whole = manifest?.parts.includes('database') ?? true;
    const entries = parseChecksums(await set.read(SET_FILES.checksums, CHECKSUMS_MAX_BYTES));
    const listed = [...entries.map((entry) => entry.name), SET_FILES.checksums].sort();
    const existing = set.names.filter((name) => name !== SET_FILES.seal).sort();
    const sealLost = manifest?.sealed === true && existing.length === set.names.length;
    const same = !sealLost && listed.join('\0') === existing.join('\0');
    const holds =
      (listed.includes(SET_FILES.dump) || listed.includes(encryptedName(SET_FILES.dump))) === whole;
    return {
      whole,
      broken: !same || !holds || (manifest !== undefined && !(await sizesHold(set, manifest))),
    };
  } catch (error) {
    if (error instanceof IdkitError) return { whole, broken: true };
    throw error;
  }
}

async function sizesHold(set: SetHandle, manifest: Manifest): Promise<boolean> {
  for (const [file, bytes] of Object.entries(manifest.files))
    if ((await set.size(file)) !== bytes) return false;
  return true;
}

/**
 * Applies the retention rule by the time in the names. The newest good set and sets dated in the future always stay. If
 * the newest good set was never verified, the newest verified set stays too. While only sets that lost data are newer
 * than a good set, ages count from that good set, so that no good set expires. Returns one step for each set, the oldest
 * set first.
 */
export function planPrune(
  sets: readonly PrunableSet[],
  options: { now: number; keepDays: number },
): readonly PruneStep[] {
  const limit = renderCount(options.keepDays, 'day');
  const candidates = sets
    .filter((set) => set.whole && !set.future)
    .toSorted((a, b) => a.startedAt - b.startedAt);
  const good = candidates.filter((set) => set.state !== 'bad');
  const newestGood = good.at(-1);
  const newestWhole = good.findLast((set) => set.shrunk !== true);
  const waits = newestGood?.shrunk === true && newestWhole !== undefined;
  const from = waits ? Math.min(options.now, newestWhole.startedAt) : options.now;
  const oldest = from - options.keepDays * DAY_MILLISECONDS;
  const newestVerified = good.findLast((set) => set.state === 'verified');
  return sets
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map((set): PruneStep => {
      const keep = (reason: string): PruneStep => ({ name: set.name, action: 'keep', reason });
      if (set.future) return keep('it is dated in the future');
      if (set === newestGood) return keep('it is the newest good set');
      if (set === newestWhole) return keep('every newer set lost data, which was not accepted');
      if (set === newestVerified) return keep('it is the newest verified set');
      if (set.startedAt >= oldest)
        return keep(
          `it is not older than ${limit}${waits ? ' before the newest set that lost no data' : ''}`,
        );
      return { name: set.name, action: 'delete', reason: `it is older than ${limit}` };
    });
}

/**
 * Deletes a set and its stored verdict. The set is renamed to `.trash-NAME` first, so that an unfinished deletion never
 * looks like a set. Only a real directory with a set's name is deleted.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function deleteSet(root: string, name: string): Promise<void> {
  const dir = join(resolve(root), name);
  if (parseSetName(name) === undefined || !(await isRealDirectory(dir)))
    throw new IdkitError('IDKIT_NOT_FOUND', `${dir} is not a backup set`);
  const trash = join(resolve(root), trashName(name));
  await writing(dir, async () => {
    await rm(trash, { recursive: true, force: true });
    await rename(dir, trash);
    syncDirectory(root);
    await rm(trash, { recursive: true, force: true });
  });
  await removeVerdict(root, name);
}

async function isRealDirectory(dir: string): Promise<boolean> {
  try {
    return (await lstat(dir)).isDirectory();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Removes the `.partial-…` and `.trash-…` directories of earlier runs and returns their names. The caller holds the
 * exclusive lock of the root, so no process uses them.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function reapLeftovers(root: string): Promise<readonly string[]> {
  const { partials, trash } = await listSets(root, 0);
  const names = [...partials, ...trash];
  for (const name of names)
    await writing(join(root, name), () => rm(join(root, name), { recursive: true, force: true }));
  return names;
}
