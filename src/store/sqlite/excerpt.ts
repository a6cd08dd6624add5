import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { IdkitError } from '../../core/index.ts';
import { createFile } from './file.ts';
import { checkVersion, migrate, prepareForWriting } from './schema-state.ts';

/** A value of a row, as a dump contains it. Numbers can be text, because SQLite converts them. */
export type ExcerptValue = string | Uint8Array | null;

/** A new SQLite file with some rows of a dump, which becomes a store that can be read. */
export interface Excerpt {
  /**
   * Returns the function that inserts a row, with the values in the order of the columns. A row that exists is kept.
   *
   * @throws IDKIT_DAMAGED if the schema version of the dump has no such table or column
   */
  inserter(table: string, columns: readonly string[]): (values: readonly ExcerptValue[]) => void;
  /** Commits the rows, and migrates them to the current schema. */
  finish(): void;
  /** Closes the file, if that has not happened yet. */
  close(): void;
}

/**
 * Creates an excerpt of a dump of idkit. The dump of either database has the same columns.
 *
 * @param file an absolute path in a directory that no other user can read
 * @throws IDKIT_VERSION if the schema is newer than this program
 */
export async function createExcerpt(file: string, schemaVersion: number): Promise<Excerpt> {
  checkVersion(schemaVersion, 'the dump');
  await createFile(file);
  const database = new DatabaseSync(file);
  // The excerpt does not contain every record that a row refers to.
  database.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000');
  migrate(database, schemaVersion);
  database.exec('BEGIN');
  const statements = new Map<string, StatementSync>();
  return {
    inserter(table, columns) {
      const known = new Set(
        database
          .prepare('SELECT name FROM pragma_table_info(?)')
          .all(table)
          .map(({ name }) => String(name)),
      );
      const foreign = columns.find((column) => !known.has(column));
      if (known.size === 0 || foreign !== undefined)
        throw new IdkitError(
          'IDKIT_DAMAGED',
          `the dump has the column ${table}.${foreign ?? ''}, which its schema lacks`,
        );
      const key = `${table} ${columns.join()}`;
      const list = columns.map((column) => `"${column}"`).join();
      const marks = columns.map(() => '?').join();
      const statement =
        statements.get(key) ??
        database.prepare(`INSERT OR IGNORE INTO "${table}" (${list}) VALUES (${marks})`);
      statements.set(key, statement);
      return (values) => {
        statement.run(...values);
      };
    },
    finish() {
      database.exec('COMMIT');
      prepareForWriting(database);
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
    close() {
      if (database.isOpen) database.close();
    },
  };
}

/** The roles and groups of a user in an excerpt. */
export interface ExcerptLinks {
  userId: string;
  roles: readonly string[];
  groups: readonly string[];
}

/** Reads the roles and groups of each user of an excerpt, also of users whose own row it does not contain. */
export function* readLinks(file: string): Generator<ExcerptLinks> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const all = database.prepare(`
      SELECT user_id, json_group_array(role_id) FILTER (WHERE role_id IS NOT NULL) AS roles,
        json_group_array(group_id) FILTER (WHERE group_id IS NOT NULL) AS groups
      FROM (
        SELECT user_id, role_id, NULL AS group_id FROM user_role
        UNION ALL SELECT user_id, NULL, group_id FROM user_group
      ) GROUP BY user_id`);
    for (const { user_id: userId, roles, groups } of all.iterate())
      yield {
        userId: String(userId),
        roles: JSON.parse(String(roles)) as string[],
        groups: JSON.parse(String(groups)) as string[],
      };
  } finally {
    database.close();
  }
}
