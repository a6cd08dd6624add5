import { join } from 'node:path';
import {
  type ArchiveKeys,
  ArchiveReader,
  type ArchiveState,
  type ArchiveVerdict,
  applyRetention,
  type ChainStep,
  checkArchive,
  deriveArchiveKeys,
  listChains,
  planRetention,
  readArchiveState,
  restorableRanges,
} from '../archive/index.ts';
import { checkMasterKey, isForeignArchive, platformPaths, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import { absoluteLocation, openTarget, type Target } from '../target/index.ts';

/** Reads what this machine knows about the platform's archive. */
export function readArchive(settings: Settings): Promise<ArchiveState | undefined> {
  return readArchiveState(join(platformPaths(settings.dir).data, 'archive.json'));
}

/** What `backups list` shows of the archive. Times are ISO 8601, UTC. */
export interface ListedArchive {
  target: string;
  /** The newest moment that can be restored. Absent without a complete base. */
  newest?: string;
  /** The times of which every moment can be restored, oldest first. Empty if the archive could not be read. */
  ranges: readonly { from: string; until: string }[];
  gaps: number;
  /** Why the archive could not be read. `newest` is then what this machine knows. */
  fault?: string;
}

/** Lists the times that can be restored from a platform's archive. Undefined if idkit does not write one. */
export async function listArchive(settings: Settings): Promise<ListedArchive | undefined> {
  const { archive } = settings.backup;
  if (archive === null || settings.service === 'keycloak' || isForeignArchive(archive)) return undefined;
  const state = await readArchive(settings);
  const known = { target: state?.target ?? archive, gaps: state?.gaps.length ?? 0 };
  const time = (at: number) => new Date(at).toISOString();
  try {
    const keys = deriveArchiveKeys(checkMasterKey(settings.masterKey));
    const target = await openTarget(absoluteLocation(archive, settings.dir));
    try {
      const found = await restorableRanges(new ArchiveReader(target, keys), await listChains(target));
      const last = found.at(-1);
      const newest = last === undefined ? state?.newest : Math.max(last.until, state?.newest ?? 0);
      return {
        ...known,
        ...(newest === undefined ? {} : { newest: time(newest) }),
        ranges: found.map(({ from, until }) => ({ from: time(from), until: time(until) })),
      };
    } finally {
      await target.close();
    }
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    const newest = state?.newest === undefined ? {} : { newest: time(state.newest) };
    return { ...known, ...newest, ranges: [], fault: error.message };
  }
}

/**
 * Reads the whole archive of a platform. Returns undefined if the platform has none, or keeps it with another program.
 *
 * @throws IDKIT_MASTER_KEY_WRONG, IDKIT_UNREACHABLE
 */
export async function verifyArchive(
  settings: Settings,
  onProgress: (bytes: number) => void,
): Promise<ArchiveVerdict | undefined> {
  return withArchive(settings, async (target, keys) =>
    checkArchive(target, keys, await readArchive(settings), onProgress),
  );
}

/** How many files one run deletes at most. */
const MOST_DELETIONS = 1_000_000;

/**
 * Deletes what no moment since `since` needs. Returns what it decided for each chain, the oldest first, and nothing
 * without an archive.
 *
 * @param since milliseconds since 1970
 */
export async function pruneArchive(
  settings: Settings,
  options: { since: number; dryRun: boolean; signal: AbortSignal },
): Promise<readonly ChainStep[]> {
  const { since, dryRun, signal } = options;
  const steps = await withArchive(settings, async (target, keys) => {
    const plan = await planRetention(new ArchiveReader(target, keys), await listChains(target), since);
    if (!dryRun) await applyRetention(target, plan, { most: MOST_DELETIONS, signal });
    return plan;
  });
  return steps ?? [];
}

async function withArchive<T>(
  settings: Settings,
  work: (target: Target, keys: ArchiveKeys) => Promise<T>,
): Promise<T | undefined> {
  const { archive } = settings.backup;
  if (archive === null || settings.service === 'keycloak' || isForeignArchive(archive)) return undefined;
  const keys = deriveArchiveKeys(checkMasterKey(settings.masterKey));
  const target = await openTarget(absoluteLocation(archive, settings.dir));
  try {
    return await work(target, keys);
  } finally {
    await target.close();
  }
}
