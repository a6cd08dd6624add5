import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJsonObject, systemErrorCode } from '../../core/index.ts';
import { replaceFile, writeFault } from '../../files/index.ts';

/** A login as the file stores it. Times are Unix times in milliseconds. */
export interface KeptLogin {
  accessToken: string;
  accessExpiresAt: number;
  refreshToken?: string;
  refreshExpiresAt?: number;
}

/** The file in which a login is kept between runs. */
export interface TokenFile {
  /** Returns the stored login. Returns undefined if the file contains no usable login of this owner. */
  read(): KeptLogin | undefined;
  /** Replaces the file atomically, with mode 0600. */
  write(login: KeptLogin): void;
  remove(): void;
  /** Runs `work` under a lock that all processes share, because a refresh token can be used only once. */
  exclusively<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/**
 * Maximum age of a lock. Its holder sends at most two requests, so an older lock belongs to a process that has died.
 */
const STALE_LOCK_MILLISECONDS = 30_000;

/**
 * Opens the file of one login. A file that is unreadable, belongs to another login or is accessible to other users is
 * ignored, and overwritten by the next login. If there is no path, the returned file stores nothing.
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
    const fields = parseJsonObject(readFileSync(path, 'utf8'));
    if (fields === undefined || fields['owner'] !== owner) return undefined;
    const { accessToken, accessExpiresAt, refreshToken, refreshExpiresAt } = fields;
    if (typeof accessToken !== 'string' || typeof accessExpiresAt !== 'number') return undefined;
    return {
      accessToken,
      accessExpiresAt,
      ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
      ...(typeof refreshExpiresAt === 'number' ? { refreshExpiresAt } : {}),
    };
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
    // A lock that was released in the meantime is not removed, because another process may hold a new one.
    const held = statSync(lock, { throwIfNoEntry: false });
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_LOCK_MILLISECONDS)
      rmSync(lock, { force: true });
    else await sleep(50);
    signal?.throwIfAborted();
  }
}
