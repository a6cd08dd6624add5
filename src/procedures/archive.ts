import { join } from 'node:path';
import {
  type ArchiveState,
  type ArchiveVerdict,
  checkArchive,
  deriveArchiveKeys,
  readArchiveState,
} from '../archive/index.ts';
import { checkMasterKey, isForeignArchive, platformPaths, type Settings } from '../config/index.ts';
import { absoluteLocation, openTarget } from '../target/index.ts';

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
  const { archive } = settings.backup;
  if (archive === null || settings.service === 'keycloak' || isForeignArchive(archive)) return undefined;
  const keys = deriveArchiveKeys(checkMasterKey(settings.masterKey));
  const target = await openTarget(absoluteLocation(archive, settings.dir));
  try {
    return await checkArchive(target, keys, await readArchive(settings), onProgress);
  } finally {
    await target.close();
  }
}
