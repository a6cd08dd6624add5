import { type BigIntStats, lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { digestCredential } from '../../backupset/index.ts';
import { isMissing } from '../../files/index.ts';
import type { DatabaseIdentity } from '../contract.ts';

/** Identifies a SQLite file by its device and inode, which no link and no other spelling of its path changes. */
export function identifySqlite(file: string): DatabaseIdentity {
  const main = statOf(file);
  const log = statOf(`${file}-wal`);
  return {
    server: main === undefined ? 'none' : `device ${main.dev}`,
    database: main === undefined ? 'none' : `inode ${main.ino}`,
    state: { ...describe('file', main), ...describe('log', log) },
  };
}

function describe(name: string, stat: BigIntStats | undefined): Record<string, string> {
  if (stat === undefined) return { [`${name} bytes`]: 'none' };
  return {
    [`${name} bytes`]: String(stat.size),
    [`${name} changed`]: new Date(Number(stat.mtimeNs / 1_000_000n)).toISOString(),
  };
}

function statOf(file: string): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Reads credentials of a SQLite database. The service may be running. */
export function digestSqliteCredentials(file: string, ids: readonly string[]): ReadonlyMap<string, string> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const query = database.prepare('SELECT user_id, secret_data FROM credential WHERE id = ?');
    const found = new Map<string, string>();
    for (const id of ids) {
      const row = query.get(id);
      if (row === undefined) continue;
      found.set(id, digestCredential(String(row['user_id']), String(row['secret_data'] ?? '')));
    }
    return found;
  } finally {
    database.close();
  }
}
