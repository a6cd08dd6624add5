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
} from '../archive/index.ts';
import { checkMasterKey, platformPaths, type Settings } from '../config/index.ts';
import { isForeignArchive } from '../platform/open.ts';
import { absoluteLocation, openTarget, type Target } from '../target/index.ts';

/** Reads what this machine knows about the platform's archive. */
export function readArchive(settings: Settings): Promise<ArchiveState | undefined> {
  return readArchiveState(join(platformPaths(settings.dir).data, 'archive.json'));
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
