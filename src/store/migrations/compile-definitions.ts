import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { SqliteDefinition } from '../../backupset/index.ts';
import { migrate } from '../sqlite/schema-state.ts';
import { APPLICATION_ID, MIGRATIONS } from './index.ts';

/** Returns every table, index and trigger that any version of the schema creates, with the versions that have it. */
export function compileDefinitions(): readonly SqliteDefinition[] {
  const definitions = new Map<string, SqliteDefinition>();
  for (let version = 1; version <= MIGRATIONS.length; version++) {
    const database = new DatabaseSync(':memory:');
    migrate(database, version);
    const rows = database
      .prepare(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`)
      .all();
    for (const row of rows) {
      const [type, name, sql] = [String(row['type']), String(row['name']), String(row['sql'])];
      const versions = [...(definitions.get(sql)?.versions ?? []), version];
      const columns =
        type !== 'table'
          ? undefined
          : database
              .prepare('SELECT name FROM pragma_table_info(?)')
              .all(name)
              .map((row) => String(row['name']));
      definitions.set(sql, { sql, versions, ...(columns === undefined ? {} : { table: { name, columns } }) });
    }
    database.close();
  }
  return [...definitions.values()];
}

/** Returns the source of the module `backupset/dump/sqlite/definitions.ts`. */
export function renderDefinitions(): string {
  const lines = compileDefinitions().map((definition) => `  ${JSON.stringify(definition)},`);
  return `// Written by \`node src/store/migrations/compile-definitions.ts\` from the migrations. A test checks that it is up to date.
import type { SqliteDefinition } from './known.ts';

/** The \`PRAGMA application_id\` of idkit's databases. */
export const SQLITE_APPLICATION = ${APPLICATION_ID};

/** The newest version of the schema that this module knows. */
export const SQLITE_VERSION = ${MIGRATIONS.length};

// biome-ignore format: generated
export const SQLITE_DEFINITIONS: readonly SqliteDefinition[] = [
${lines.join('\n')}
];
`;
}

if (import.meta.main)
  writeFileSync(new URL('../../backupset/dump/sqlite/definitions.ts', import.meta.url), renderDefinitions());
