import { join } from 'node:path';
import { addConfigVersion, addEnvironmentVersion, SET_FILES } from '../../backupset/index.ts';
import type { BackupContents, BackupWork } from './work.ts';

/** Keeps the newest versions of both beside the sets (spec "Limits"; contract §3, backup). */
export async function keepVersions(
  work: BackupWork,
  dir: string,
  contents: BackupContents,
): Promise<{ added: number }> {
  const { root, writer, settings, options } = work;
  const keep = settings.backup.keepVersions;
  const hashOf = (name: string) => writer.files.get(name)?.sha256 ?? '';
  let added = 0;
  if (contents.config) {
    const result = await addConfigVersion(root, writer.name, join(dir, SET_FILES.config), {
      keep,
      sha256: hashOf(SET_FILES.config),
    });
    if (result.added !== undefined) added += 1;
  }
  if (contents.env && options.passphrase !== undefined) {
    const { passphrase } = options;
    const file = join(dir, SET_FILES.environment);
    const result = await addEnvironmentVersion(root, writer.name, file, {
      keep,
      passphrase,
      sha256: hashOf(SET_FILES.environment),
    });
    if (result.added !== undefined) added += 1;
  }
  return { added };
}
