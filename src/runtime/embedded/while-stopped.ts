import { acquireLock } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { lockFile, makeDataDirectory } from './database-file.ts';

/**
 * Does work that needs every service on the database stopped, and keeps one from starting meanwhile.
 *
 * @throws IDKIT_SERVICE_RUNNING that names who holds the database
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
