import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SCHEMA_VERSION } from '../../src/store/open.ts';
import { aRealm } from '../conformance/store/records.ts';
import { makeDatabase, masterKey as masterKeyOfDatabases, openOn, runSql } from './databases.ts';
import { newDirectory, newStore } from './files.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const MIGRATION = `import type { Migration } from './index.ts';

export const DUMMY: Migration = {
  sqlite: 'CREATE TABLE dummy (id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;',
  postgres: 'CREATE TABLE dummy (id TEXT PRIMARY KEY NOT NULL);',
};
`;

/**
 * The source of a program that opens, dumps, loads and checks a database, with the modules in the folder that `INPUT`
 * names.
 */
const PROGRAM = `
const { source, file, side, masterKey, postgres } = JSON.parse(process.env.INPUT);
const { openStore, dumpSqlite, loadSqlite, checkSqlite } = await import(source + 'store/open.ts');
const { Secret } = await import(source + 'core/index.ts');
const store = await openStore({ file, masterKey: new Secret(masterKey) });
const opened = await store.figures();
const realms = await store.listRealmNames();
await store.close();
const chunks = [];
await dumpSqlite(file, async (chunk) => void chunks.push(Buffer.from(chunk)));
await loadSqlite(side, (async function* () { yield* chunks; })());
const checked = await checkSqlite(side, new Secret(masterKey));
let shared;
if (postgres) {
  const { url, password, key } = postgres;
  const other = await openStore({ postgres: { url, password: new Secret(password) }, masterKey: new Secret(key) });
  shared = (await other.figures()).schemaVersion;
  await other.close();
}
console.log(JSON.stringify({ opened: opened.schemaVersion, realms, checked: checked.schemaVersion, shared }));
`;

function listFiles(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

test('adding a migration takes one file and one entry in the list, and the generated definitions include it', async (t) => {
  const copy = await newDirectory(t);
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const next = String(SCHEMA_VERSION + 1).padStart(4, '0');
  const folder = join(copy, 'src/store/migrations');
  const row = /(export const MIGRATIONS: readonly Migration\[\] = \[[^\]]*?),?\s*\]/;
  const index = readFileSync(join(folder, 'index.ts'), 'utf8');
  assert.match(index, row);
  writeFileSync(join(folder, `${next}-dummy.ts`), MIGRATION);
  writeFileSync(
    join(folder, 'index.ts'),
    `import { DUMMY } from './${next}-dummy.ts';\n${index.replace(row, '$1, DUMMY]')}`,
  );
  execFileSync(process.execPath, [join(folder, 'compile-definitions.ts')]);

  const changed = listFiles(join(copy, 'src')).filter((file) => {
    const before = join(root, 'src', file);
    try {
      return !readFileSync(before).equals(readFileSync(join(copy, 'src', file)));
    } catch {
      return true;
    }
  });
  const generated = changed.filter((file) =>
    readFileSync(join(copy, 'src', file), 'utf8').startsWith('// Written by `node '),
  );
  assert.equal(generated.length, 1);
  assert.deepEqual(changed.filter((file) => !generated.includes(file)).toSorted(), [
    `store/migrations/${next}-dummy.ts`,
    'store/migrations/index.ts',
  ]);

  const { store, file, masterKey } = await newStore(t);
  await store.apply([{ do: 'create', realm: aRealm({}) }]);
  await store.close();
  const server = missingPostgres() === undefined ? await startPostgres(t) : undefined;
  const database = server && (await makeDatabase(server));
  if (server && database) await (await openOn(t, server, database.url)).close();
  const input = {
    source: pathToFileURL(`${join(copy, 'src')}/`).href,
    file,
    side: join(copy, 'side.db'),
    masterKey: masterKey.reveal(),
    postgres: server &&
      database && { url: database.url, password: server.password, key: masterKeyOfDatabases.reveal() },
  };
  const program = join(copy, 'program.mjs');
  writeFileSync(program, PROGRAM);
  const printed = execFileSync(process.execPath, [program], {
    env: { ...process.env, INPUT: JSON.stringify(input) },
    encoding: 'utf8',
  });
  const version = SCHEMA_VERSION + 1;
  assert.deepEqual(JSON.parse(printed), {
    opened: version,
    realms: ['acme'],
    checked: version,
    ...(server && { shared: version }),
  });
  if (server && database)
    assert.deepEqual(await runSql(server, 'SELECT count(*)::int AS n FROM dummy', database.name), [{ n: 0 }]);
});
