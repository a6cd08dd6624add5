import { type KeepCounts, type PruneStep, planKeep, SET_FILES } from '../../backupset/index.ts';
import type { Target } from '../../target/index.ts';
import type { RemoteSet } from './remote-root.ts';

/** Applies the rule to the sets at a target. A set without checksums is an unfinished copy and never counts as good. */
export function planRemote(sets: readonly RemoteSet[], rule: KeepCounts): readonly PruneStep[] {
  return planKeep(
    sets.map(({ name, startedAt, future, complete, files }) => ({
      name,
      startedAt,
      future,
      good: complete && [...files.keys()].some((file) => file.startsWith(SET_FILES.dump)),
    })),
    rule,
  );
}

/** Deletes a set at a target. The checksums go first, so that the rest never looks like a set. */
export async function deleteRemote(
  target: Target,
  set: RemoteSet | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (set === undefined) return;
  const others = [...set.files.keys()].filter((name) => name !== SET_FILES.checksums);
  for (const name of [SET_FILES.checksums, ...others]) await target.remove(`${set.name}/${name}`, signal);
}
