import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { acquireLock, type Lock, platformPaths, type Settings } from '../config/index.ts';
import { IdkitError, systemErrorCode } from '../core/index.ts';

/**
 * Returns the path of the lock file next to a SQLite file. A process that needs exclusive use of the database holds
 * this lock.
 */
export function lockFile(file: string): string {
  return join(dirname(file), 'serve.lock');
}

/** Returns the path of the lock file that a running service holds. The file also records where the service listens. */
export function serviceLockFile(settings: Settings): string {
  if (settings.database.kind === 'sqlite') return lockFile(settings.database.file);
  return join(platformPaths(settings.dir).data, 'serve.lock');
}

/**
 * Creates the directory of a file, so that only its owner can read the directory.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function makeDataDirectory(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EPERM' || code === 'EEXIST')
      throw new IdkitError(
        'IDKIT_DIRECTORY_NOT_WRITABLE',
        `the directory ${dirname(file)} cannot be created or written to`,
        { cause },
      );
    throw cause;
  }
}

/**
 * Takes the lock that a service holds while it runs. On SQLite it excludes every other service. On Postgres the lock is
 * in the database, and this file only records the services of this platform directory.
 *
 * @throws IDKIT_LOCKED with the holder, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function recordService(settings: Settings): Promise<Lock> {
  const path = serviceLockFile(settings);
  await makeDataDirectory(path);
  const mode = settings.database.kind === 'sqlite' ? 'exclusive' : 'shared';
  return acquireLock(path, { mode, record: { command: 'serve' } });
}

/**
 * Runs `work` while no service uses the SQLite file, and prevents one from starting in the meantime.
 *
 * @throws IDKIT_SERVICE_RUNNING that names the holder of the lock
 */
export async function whileStopped<T>(file: string, command: string, work: () => Promise<T>): Promise<T> {
  await makeDataDirectory(file);
  const lock = await acquireLock(lockFile(file), { mode: 'exclusive', record: { command } }).catch(
    (cause: unknown) => {
      if (!(cause instanceof IdkitError) || cause.code !== 'IDKIT_LOCKED') throw cause;
      throw new IdkitError('IDKIT_SERVICE_RUNNING', cause.message, {
        cause,
        hints: ['stop idkit serve on this platform directory (Ctrl-C or SIGTERM), then try again'],
      });
    },
  );
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
