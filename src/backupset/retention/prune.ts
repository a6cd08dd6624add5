import { lstat, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { syncDirectory, writing } from '../../files/index.ts';
import type { ListedSet, Manifest, PrunableSet, PruneStep, SetHandle } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

import { CHECKSUMS_MAX_BYTES, parseChecksums } from '../set/checksums.ts';
import { openSet } from '../set/handle.ts';
import { listSets, trashName } from '../set/list-sets.ts';
import { MANIFEST_MAX_BYTES, parseManifest } from '../set/manifest.ts';
import { parseSetName } from '../set/names.ts';
import { findVerdict, removeVerdict } from '../verify/kept-verdicts.ts';

const DAY_MILLISECONDS = 86_400_000;

/**
 * What the retention rule needs to know of each set: the kept verdict, and whether its files are those that its
 * checksums list and have the sizes that its manifest tells. No content is read.
 */
export async function judgeSets(root: string, sets: readonly ListedSet[]): Promise<readonly PrunableSet[]> {
  return Promise.all(
    sets.map(async (set) => {
      const verdict = await findVerdict(root, set.name);
      const { whole, broken } = await shapeOf(set.dir);
      const state =
        broken || verdict?.verdict === 'damaged'
          ? 'bad'
          : verdict?.verdict === 'good'
            ? 'verified'
            : 'unverified';
      return { ...set, whole, state };
    }),
  );
}

/**
 * Whether a set holds the database, and whether what can be seen without reading content is in order. A broken set
 * counts as whole unless its manifest says otherwise: damage to the newest set must be told, not passed over.
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
    const there = set.names.filter((name) => name !== SET_FILES.seal).sort();
    const sealLost = manifest?.sealed === true && there.length === set.names.length;
    const same = !sealLost && listed.join('\0') === there.join('\0');
    const holds = listed.includes(SET_FILES.dump) === whole;
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
 * The retention rule (contract §3, prune): by the time in the name, never the newest good set, never a future one.
 * Where the newest set that may be good was never verified, the newest verified one stays too. `now` in
 * milliseconds; oldest first.
 */
export function planPrune(
  sets: readonly PrunableSet[],
  options: { now: number; keepDays: number },
): readonly PruneStep[] {
  const oldest = options.now - options.keepDays * DAY_MILLISECONDS;
  const candidates = sets
    .filter((set) => set.whole && !set.future)
    .toSorted((a, b) => a.startedAt - b.startedAt);
  const newestGood = candidates.findLast((set) => set.state !== 'bad');
  const newestVerified = candidates.findLast((set) => set.state === 'verified');
  return sets
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map((set): PruneStep => {
      const keep = (reason: string): PruneStep => ({ name: set.name, action: 'keep', reason });
      if (set.future) return keep('it is dated in the future');
      if (set === newestGood) return keep('it is the newest good set');
      if (set === newestVerified) return keep('it is the newest verified set');
      if (set.startedAt >= oldest) return keep(`it is not older than ${options.keepDays} days`);
      return { name: set.name, action: 'delete', reason: `it is older than ${options.keepDays} days` };
    });
}

/**
 * Deletes a set: one rename to `.trash-NAME`, so that half a deletion never looks like a set, then its files and
 * the verdict kept of it. Only a real directory with a set's name is touched.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function deleteSet(root: string, name: string): Promise<void> {
  const dir = join(resolve(root), name);
  if (parseSetName(name) === undefined || !(await isRealDirectory(dir)))
    throw new IdkitError('IDKIT_NOT_FOUND', `${dir} is no backup set`);
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
 * Removes `.partial-…` and `.trash-…` that earlier runs left behind. The caller holds the root's lock alone, so
 * whatever lies there belongs to nobody. Returns the names that went.
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
