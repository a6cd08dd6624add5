import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** The SQLite file of the embedded platform, absolute. */
export function databaseFile(settings: Settings): string {
  if (settings.database.kind === 'sqlite') return settings.database.file;
  throw new IdkitError('IDKIT_NOT_YET', 'a postgres:// database is not built in this version');
}

/** The kernel lock of everything that must be alone on a database (contract §3); it lies beside the file. */
export function lockFile(file: string): string {
  return join(dirname(file), 'serve.lock');
}

/** The lock that a service of this platform holds, with the record of where it listens. */
export function serviceLockFile(settings: Settings): string {
  if (settings.database.kind === 'sqlite') return lockFile(settings.database.file);
  return join(platformPaths(settings.dir).data, 'serve.lock');
}

/** Makes the directory of the database, for its owner alone. @throws IDKIT_DIRECTORY_NOT_WRITABLE */
export async function makeDataDirectory(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EPERM' || code === 'EEXIST')
      throw new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `${dirname(file)} cannot be made or written`, {
        cause,
      });
    throw cause;
  }
}
