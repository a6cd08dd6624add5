import { acquireLock, type Lock, type Settings } from '../../config/index.ts';
import { makeDataDirectory, serviceLockFile } from './database-file.ts';

/**
 * Takes the lock of a service, with the record of where it listens. It excludes every other service of an SQLite
 * database. The lock of a Postgres database is in the database; there only the records of its services lie here.
 *
 * @throws IDKIT_LOCKED with the holder, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function recordService(settings: Settings): Promise<Lock> {
  const path = serviceLockFile(settings);
  await makeDataDirectory(path);
  const mode = settings.database.kind === 'sqlite' ? 'exclusive' : 'shared';
  return acquireLock(path, { mode, record: { command: 'serve' } });
}
