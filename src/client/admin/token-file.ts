import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../core/index.ts';
import { replaceFile, writeFault } from '../../files/index.ts';

/** A stored login. Times are Unix times in milliseconds. */
export interface KeptLogin {
  accessToken: string;
  accessExpiresAt: number;
  refreshToken?: string;
  refreshExpiresAt?: number;
}

/** The storage of a login between runs. */
export interface TokenFile {
  /** Returns the login of this owner, or undefined if none is stored or usable. */
  read(): KeptLogin | undefined;
  /** Replaces the file with a rename. Its mode is 0600. */
  write(login: KeptLogin): void;
  remove(): void;
  /** Runs `work` under a lock between processes, because a refresh token may be used only once. */
  exclusively<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/** A process holds the lock for at most two calls. An older lock belongs to a process that died. */
const STALE_LOCK_MILLISECONDS = 30_000;

/**
 * Opens the file of one login, or keeps the login in memory if there is no path. A file of another owner, a file that
 * other users can read and an invalid file count as missing, and the next login replaces them.
 *
 * @param owner base URL, realm, client and user of the login
 */
export function openTokenFile(path: string | undefined, owner: string): TokenFile {
  if (path === undefined) {
    return { read: () => undefined, write: () => {}, remove: () => {}, exclusively: (_, work) => work() };
  }
  return {
    read: () => readLogin(path, owner),
    write: (login) => writeLogin(path, owner, login),
    remove: () => rmSync(path, { force: true }),
    async exclusively(signal, work) {
      const lock = `${path}.lock`;
      await takeLock(lock, path, signal);
      try {
        return await work();
      } finally {
        rmSync(lock, { force: true });
      }
    },
  };
}

function readLogin(path: string, owner: string): KeptLogin | undefined {
  try {
    if ((statSync(path).mode & 0o077) !== 0) return undefined;
    const kept = JSON.parse(readFileSync(path, 'utf8')) as { owner?: unknown } & KeptLogin;
    const whole = typeof kept.accessToken === 'string' && typeof kept.accessExpiresAt === 'number';
    return whole && kept.owner === owner ? kept : undefined;
  } catch {
    return undefined;
  }
}

function writeLogin(path: string, owner: string, login: KeptLogin): void {
  replaceFile(path, JSON.stringify({ owner, ...login }));
}

async function takeLock(lock: string, path: string, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(lock, String(process.pid), { mode: 0o600, flag: 'wx' });
      return;
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw writeFault(path, error);
    }
    // A lock that was just released is not removed, because another process may hold it already.
    const held = statSync(lock, { throwIfNoEntry: false });
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_LOCK_MILLISECONDS)
      rmSync(lock, { force: true });
    else await sleep(50);
    signal?.throwIfAborted();
  }
}
