import { isAbsolute, resolve } from 'node:path';
import { IdkitError } from '../core/index.ts';
import { printable } from './faults.ts';

/** A parsed location of a target. */
export type TargetLocation =
  | { kind: 'directory'; path: string }
  | { kind: 'ssh'; user?: string; host: string; port?: number; path: string }
  | { kind: 's3'; bucket: string; prefix: string }
  | { kind: 'rclone'; remote: string; path: string };

const HOST = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.%]{2,60}\])$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}$/;
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,62}$/i;
const REMOTE = /^[A-Za-z0-9_][A-Za-z0-9_.+@ -]{0,127}$/;

/**
 * Parses a location: a directory, `[user@]host:path`, `ssh://[user@]host[:port]/path`, `s3://bucket/prefix` or
 * `rclone:remote:path`. A text with a colon before the first slash is not a directory. The path of `ssh://` is absolute;
 * `ssh://host/~/path` and `host:path` start at the home directory of the user.
 *
 * @throws IDKIT_SETTING
 */
export function parseLocation(text: string): TargetLocation {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is rejected.
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text))
    throw wrong(text, 'it is empty or has control characters');
  if (text.startsWith('s3://')) return parseS3(text);
  if (text.startsWith('ssh://') || text.startsWith('sftp://')) return parseSshUrl(text);
  if (text.startsWith('rclone:')) return parseRclone(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) throw wrong(text, 'idkit does not know this kind of address');
  const match = /^(\[[^\]/]*\]|[^/:[]*@\[[^\]/]*\]|[^/:]*):(.*)$/.exec(text);
  if (match === null) return { kind: 'directory', path: text };
  const [, place = '', path = ''] = match;
  return { kind: 'ssh', ...parsePlace(text, place), path: checkPath(text, path === '' ? '.' : path) };
}

/** Reports whether a location is not a directory of this machine. */
export function isRemoteLocation(text: string): boolean {
  return /^[^/]*:/.test(text);
}

/** Returns the location with an absolute directory. @param base the directory to which a relative path belongs */
export function absoluteLocation(text: string, base: string): string {
  return isRemoteLocation(text) || isAbsolute(text) ? text : resolve(base, text);
}

/** Splits the last part of a location off: `s3://b/p/20261122_101112` into `s3://b/p` and `20261122_101112`. */
export function splitLocation(text: string): { parent: string; name: string } | undefined {
  const trimmed = text.replace(/\/+$/, '');
  const match = /^(.*?)(\/|:)([^/:]+)$/.exec(trimmed);
  if (match === null) return undefined;
  const [, before = '', mark = '', name = ''] = match;
  if (/^[a-z0-9]+:\/?$/i.test(before) && mark === '/') return undefined;
  return { parent: mark === ':' ? `${before}:` : before, name };
}

/** Returns the location of a file or directory below a location. */
export function joinLocation(text: string, name: string): string {
  return `${text}${/[/:]$/.test(text) ? '' : '/'}${name}`;
}

function parseS3(text: string): TargetLocation {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  if (bucket.includes('@')) throw wrong('s3://…', 'keys belong into the environment, not into the address');
  if (!BUCKET.test(bucket)) throw wrong(text, 'a bucket has 3 to 63 letters, digits, dots and hyphens');
  const prefix = rest.replace(/\/+$/, '');
  if (prefix !== '' && prefix.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw wrong(text, 'its prefix has an empty part, . or ..');
  if (/[?#\\]/.test(prefix)) throw wrong(text, 'its prefix has a ?, # or backslash');
  return { kind: 's3', bucket, prefix };
}

function parseSshUrl(text: string): TargetLocation {
  const [, place = '', port, path = ''] =
    /^s(?:sh|ftp):\/\/((?:[^/@]*@)?(?:\[[^\]/]*\]|[^/:]*))(?::(\d{1,5}))?(?:\/(.*))?$/s.exec(text) ?? [];
  if (place.includes(':') && !place.includes('['))
    throw wrong('ssh://…', 'a password does not belong into the address');
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) throw wrong(text, 'a port is 1 to 65535');
  const home = path === '~' || path.startsWith('~/');
  return {
    kind: 'ssh',
    ...parsePlace(text, place),
    ...(number === undefined ? {} : { port: number }),
    path: checkPath(text, home ? path.slice(2) || '.' : `/${path}`),
  };
}

function parsePlace(text: string, place: string): { user?: string; host: string } {
  const at = place.lastIndexOf('@');
  const user = at === -1 ? undefined : place.slice(0, at);
  const host = place.slice(at + 1);
  // A host or user that begins with a hyphen would be an option of ssh.
  if (!HOST.test(host)) throw wrong(text, `${printable(host)} is not a host name`);
  if (user !== undefined && !USER.test(user)) throw wrong(text, `${printable(user)} is not a user name`);
  return { ...(user === undefined ? {} : { user }), host: host.replace(/^\[|\]$/g, '') };
}

function parseRclone(text: string): TargetLocation {
  const [, remote = '', path] = /^rclone:([^:/]*):(.*)$/s.exec(text) ?? [];
  if (!REMOTE.test(remote) || path === undefined)
    throw wrong(text, 'after rclone: it needs the name of a configured remote, a colon and a path');
  return { kind: 'rclone', remote, path: path.replace(/\/+$/, '') };
}

function checkPath(text: string, path: string): string {
  if (path.split('/').includes('..')) throw wrong(text, 'its path contains ..');
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

function wrong(text: string, why: string): IdkitError {
  return new IdkitError('IDKIT_SETTING', `${printable(text)} is not a location for copies: ${why}`, {
    hints: [
      'a directory, [user@]host:path, ssh://user@host:port/path, s3://bucket/prefix or rclone:remote:path',
    ],
  });
}
