import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFault } from '../../files/index.ts';
import { withLock } from './with-lock.ts';

/** Maximum time in seconds to wait for the lock. Its holder sends a few requests, each with its own timeout. */
const PATIENCE_SECONDS = 60;

/** A file with the login of a service, and the lock under which it is renewed. */
export interface LockedFile {
  path: string;
  /**
   * Runs `work` while no other process changes the file. The system releases the lock when its holder ends, and not
   * before, so a slow holder keeps it.
   *
   * @throws IDKIT_LOCKED if another process holds the lock for a minute
   */
  lock<T>(work: () => Promise<T>): Promise<T>;
}

/** Returns the file `DIR/NAME.json` with its lock. Creates the directory, which only its owner can read, when it locks. */
export function lockedFile(path: string, signal?: AbortSignal): LockedFile {
  return {
    path,
    lock: (work) => {
      makePrivateDirectory(dirname(path));
      const lock = path.replace(/\.json$/, '.lock');
      return withLock(lock, { patienceSeconds: PATIENCE_SECONDS, signal }, work);
    },
  };
}

/** @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE */
export function makePrivateDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeFault(dir, error);
  }
}
