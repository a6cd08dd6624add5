import { readFileSync, rmSync, statSync } from 'node:fs';
import { parseJsonObject } from '../../core/index.ts';
import { replaceFile } from '../../files/index.ts';

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
}

/**
 * Opens the file of one login. A file that is unreadable, belongs to another login or is accessible to other users is
 * ignored, and overwritten by the next login. If there is no path, the returned file stores nothing.
 *
 * @param owner base URL, realm, client and user of the login
 */
export function openTokenFile(path: string | undefined, owner: string): TokenFile {
  if (path === undefined) {
    return { read: () => undefined, write: () => {}, remove: () => {} };
  }
  return {
    read: () => readLogin(path, owner),
    write: (login) => writeLogin(path, owner, login),
    remove: () => rmSync(path, { force: true }),
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
