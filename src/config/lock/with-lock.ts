import { setTimeout as pause } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import { acquireLock } from './lock.ts';

const BETWEEN_TRIES_MS = 25;

/**
 * Runs `work` while this process holds a kernel lock. Waits for other holders.
 *
 * @throws IDKIT_LOCKED if another process still holds the lock after `patienceSeconds`; the reason of `signal`
 */
export async function withLock<T>(
  path: string,
  options: { patienceSeconds: number; signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + options.patienceSeconds * 1000;
  const lock = await take();
  try {
    return await work();
  } finally {
    await lock.release();
  }

  async function take(): ReturnType<typeof acquireLock> {
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        return await acquireLock(path, { mode: 'exclusive', record: { command: 'login' } });
      } catch (error) {
        const isHeld = error instanceof IdkitError && error.code === 'IDKIT_LOCKED';
        if (!isHeld || performance.now() >= end) throw error;
      }
      await pause(BETWEEN_TRIES_MS);
    }
  }
}
