import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, platformPaths, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';

/** The lock of the schedule. It ends with `release` or with the process. */
export interface ScheduleLock {
  /** False if the connection to the database was lost. Another machine may then hold the lock. */
  isHeld(): boolean;
  release(): Promise<void>;
  /** Why only the schedulers of this machine are locked out. Absent if all of them are. */
  onlyHere?: string;
}

/**
 * Takes the lock under which one scheduler of the platform runs a job: a kernel lock in the platform directory, and on
 * Postgres also an advisory lock, which locks out the other machines. If the database does not respond, the lock is only
 * the one of this machine, so that a job without the database still runs and a backup reports the fault.
 *
 * @param job for the record of the lock
 * @throws IDKIT_LOCKED with the holder, IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function lockPlatformSchedule(settings: Settings, job: string): Promise<ScheduleLock> {
  const { data } = platformPaths(settings.dir);
  await mkdir(data, { recursive: true, mode: 0o700 });
  const own = await acquireLock(join(data, 'schedule.lock'), {
    mode: 'exclusive',
    record: { command: `schedule run ${job}` },
  });
  const { database, databasePassword: password, runtime } = settings;
  if (runtime !== 'embedded' || database.kind !== 'postgres')
    return { isHeld: () => true, release: () => own.release() };
  try {
    const { lockSchedule } = await import('../postgres/index.ts');
    const shared = await lockSchedule({ url: database.url, password });
    return {
      isHeld: () => shared.isHeld(),
      release: async () => {
        await shared.release();
        await own.release();
      },
    };
  } catch (error) {
    if (!(error instanceof IdkitError) || error.code === 'IDKIT_LOCKED') {
      await own.release();
      throw error;
    }
    return { isHeld: () => true, release: () => own.release(), onlyHere: error.message };
  }
}
