import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Secret, systemErrorCode } from '../../core/index.ts';
import type { PostgresAddress, PostgresHost } from './url.ts';

/**
 * Finds the password for a host in libpq's password file: the `passfile` of the address, PGPASSFILE, or `~/.pgpass`
 * (PostgreSQL documentation, 34.16). As in libpq, a file that other users can read is ignored.
 */
export function findPostgresPassword(
  address: PostgresAddress,
  { host, port }: PostgresHost,
  env: NodeJS.ProcessEnv = process.env,
): Secret | undefined {
  const file = address.passFile ?? (env['PGPASSFILE'] || join(homedir(), '.pgpass'));
  const names = host.startsWith('/') ? [host, 'localhost'] : [host];
  for (const line of readLines(file)) {
    const [hostField = '', portField = '', databaseField = '', userField = '', password] = splitFields(line);
    if (password === undefined) continue;
    const fits = (field: string, value: string) => field === '*' || unescaped(field) === value;
    if (
      names.some((name) => fits(hostField, name)) &&
      fits(portField, String(port)) &&
      fits(databaseField, address.database) &&
      fits(userField, address.user)
    )
      return new Secret(unescaped(password));
  }
  return undefined;
}

function readLines(file: string): readonly string[] {
  try {
    const { mode } = statSync(file);
    if ((mode & 0o077) !== 0) return [];
    return readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .filter((line) => line !== '' && !line.startsWith('#'));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** Splits at colons without a backslash before them. */
function splitFields(line: string): readonly string[] {
  const fields = [''];
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (character === ':' && fields.length < 5) fields.push('');
    else if (character === '\\' && at + 1 < line.length) fields.push(`${fields.pop()}\\${line[++at]}`);
    else fields.push(`${fields.pop()}${character}`);
  }
  return fields;
}

function unescaped(field: string): string {
  return field.replace(/\\(.)/g, '$1');
}
