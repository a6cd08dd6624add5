import type { DatabaseSync } from 'node:sqlite';
import { COMPILED_QUERIES } from './compiled-queries.ts';
import { schemaVersion } from './prepare-file.ts';

/** What a database holds, read in one snapshot. */
export interface DatabaseSummary {
  /** SQLite's own version. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** User counts without service accounts. */
  realms: readonly { realm: string; users: number }[];
}

/** The caller holds a transaction where the answer must be of one moment. */
export function summarize(database: DatabaseSync): DatabaseSummary {
  const sizes = database
    .prepare(
      'SELECT sqlite_version() AS version, page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    )
    .get()!;
  const schema = schemaVersion(database);
  const realms = schema === 0 ? [] : database.prepare(COMPILED_QUERIES['realm.userCounts']!.sql).all();
  return {
    version: String(sizes['version']),
    schemaVersion: schema,
    databaseBytes: Number(sizes['bytes']),
    realms: realms.map((row) => ({ realm: String(row['realm']), users: Number(row['users']) })),
  };
}
