import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../core/index.ts';
import { replaceFile, writeFault } from '../../files/index.ts';

/** A login as it is kept. Times are milliseconds since the Unix epoch. */
export interface KeptLogin {
  accessToken: string;
  accessExpiresAt: number;
  refreshToken?: string;
  refreshExpiresAt?: number;
}

/** Where a login lives between runs. */
export interface TokenFile {
  /** What is kept for this owner; undefined where there is nothing that can be used. */
  read(): KeptLogin | undefined;
  /** Replaces the file by one rename, mode 0600. */
  write(login: KeptLogin): void;
  remove(): void;
  /** Runs `work` while no other process does: a refresh token may be used once. */
  exclusively<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/** A holder needs two calls at most; an older lock belongs to a process that died. */
const STALE_LOCK_MILLISECONDS = 30_000;

/**
 * The file of one login, or nothing but memory where no path is given. A file of another owner, that others can
 * read or that cannot be understood counts as absent and is replaced by the next login.
 *
 * @param owner base URL, realm, client and user that the login belongs to
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
    // One that has just been let go of is not removed: it may be the next holder's by now.
    const held = statSync(lock, { throwIfNoEntry: false });
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_LOCK_MILLISECONDS)
      rmSync(lock, { force: true });
    else await sleep(50);
    signal?.throwIfAborted();
  }
}
