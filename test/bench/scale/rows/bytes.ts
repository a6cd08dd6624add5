import { DatabaseSync } from 'node:sqlite';
import { databaseFile } from '../../seed.ts';
import { inRounds, type Row } from '../bench.ts';
import type { Side } from '../side.ts';

/** Tables of sessions, with their partitions and indexes. Logins in progress do not count. */
const SESSION_TABLES = /^(user_session|token_family|client_session)/;

/** Tables of users: their names, credentials, roles and groups, and what a search of users needs. */
const USER_TABLES = /^(account|credential|user_role|user_group|user_search|user_attribute)/;
const EVENT_TABLES = /^(event)/;

/** Returns the size in bytes of all sessions with their token families and indexes. */
export function sessionBytes(side: Side): Promise<number> {
  return bytesOf(side, SESSION_TABLES);
}

async function bytesOf(side: Side, tables: RegExp): Promise<number> {
  if (side.cluster) {
    const [row] = await side.cluster.sql<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(oid))::text AS bytes FROM pg_class
       WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname ~ '${tables.source}'`,
      side.database,
    );
    return Number(row!.bytes);
  }
  const database = new DatabaseSync(databaseFile(side.dir), { readOnly: true });
  try {
    const objects = database
      .prepare(`SELECT name, tbl_name AS of FROM sqlite_schema WHERE rootpage > 0`)
      .all() as { name: string; of: string }[];
    let bytes = 0;
    for (const { name, of } of objects) {
      if (!tables.test(of)) continue;
      const [row] = database
        .prepare('SELECT pgsize AS bytes FROM dbstat WHERE name = ? AND aggregate = TRUE')
        .all(name);
      bytes += Number(row?.['bytes'] ?? 0);
    }
    return bytes;
  } finally {
    database.close();
  }
}

/** The sizes of a session with its token family, of a user and of an event, with their entries in indexes. */
export const bytesRow: Row = {
  name: 'bytes',
  measure: (bench) =>
    inRounds(bench, 1, async ({ large }) => {
      const { sessions, users, events } = large.plan;
      const each = async (tables: RegExp, rows: number) => {
        const bytes = await bytesOf(large, tables);
        return { value: bytes / rows, detail: `${Math.round(bytes / 1e6).toLocaleString('en')} MB` };
      };
      return {
        'bytes a session with indexes': await each(SESSION_TABLES, sessions),
        'bytes a user with a password, with indexes': await each(USER_TABLES, users),
        'bytes an event with indexes': await each(EVENT_TABLES, events),
      };
    }),
};
