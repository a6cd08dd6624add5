import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { BackgroundProgress, Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';
import { makeDatabase, openOn, runSql } from './databases.ts';
import { makeOnPostgres, onSqlite, USERS } from './old-databases.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const COUNT = 730;

/** A database of version 0.1.0, and SQL on it. */
interface Old {
  open(mode: 'read' | 'write'): Promise<Store>;
  run(sql: string): Promise<void>;
}

const openers: Readonly<Record<string, (t: TestContext) => Promise<Old>>> = {
  SQLite: async (t) => {
    const { place, key } = await onSqlite(t, COUNT);
    const file = place['file']!;
    return {
      open: async (mode) => {
        const store = await openStore({ file, masterKey: key, mode });
        t.after(() => store.close());
        return store;
      },
      run: async (sql) => {
        const database = new DatabaseSync(file, { timeout: 10_000 });
        database.exec(sql);
        database.close();
      },
    };
  },
  Postgres: async (t) => {
    const server = await startPostgres(t);
    const { name, url } = await makeOnPostgres(t, server, COUNT);
    return {
      open: (mode) => openOn(t, server, url, { mode }),
      run: async (sql) => void (await runSql(server, sql, name)),
    };
  },
};

const sessions = (progress: readonly BackgroundProgress[]) =>
  progress.find(({ name }) => name === 'session rows');

for (const [database, open] of Object.entries(openers)) {
  const skip = database === 'Postgres' && (missingPostgres() ?? false);

  test(`${database}: every store sees how many records a background migration has handled, and about how many are left`, {
    skip,
  }, async (t) => {
    const old = await open(t);
    const store = await old.open('write');
    const before = sessions(await store.listBackgroundMigrations());
    assert.deepEqual([before?.handled, before?.left], [0, undefined], 'nothing is counted yet');

    const first = await store.continueBackgroundMigration();
    assert.deepEqual([first?.name, first?.handled, first?.left], ['session rows', 200, COUNT - 200]);
    const users = (await store.listBackgroundMigrations()).find(({ name }) => name === 'user-search');
    assert.deepEqual([users?.handled, users?.left], [0, USERS.length], 'the later ones are counted too');

    const reader = await old.open('read');
    const other = await old.open('write').catch(() => reader);
    for (const one of [reader, other])
      assert.deepEqual(sessions(await one.listBackgroundMigrations()), { ...first, finished: false });

    await old.run(`UPDATE background_migration SET handled = 9000 WHERE name = 'session rows'`);
    assert.equal(sessions(await reader.listBackgroundMigrations())?.left, 0, 'never below 0');
    await old.run(`UPDATE background_migration SET handled = 200 WHERE name = 'session rows'`);

    let last: BackgroundProgress | undefined;
    while (sessions(await store.listBackgroundMigrations()) !== undefined)
      last = await store.continueBackgroundMigration();
    assert.deepEqual([last?.handled, last?.left, last?.finished], [COUNT, 0, true]);
    assert.equal(sessions(await reader.listBackgroundMigrations()), undefined, 'it has ended');
  });

  test(`${database}: a database that was restored during a background migration counts the remaining records again`, {
    skip,
  }, async (t) => {
    const old = await open(t);
    const store = await old.open('write');
    await store.continueBackgroundMigration();
    await store.close();
    await old.run(`DELETE FROM record_count WHERE kind = 'migration'`);
    const progress = await (await old.open('write')).continueBackgroundMigration();
    assert.equal(progress?.handled, 400);
    assert.equal(progress.left, COUNT - 400);
  });
}

test('Postgres estimates the number of records from its statistics if a table has at least a million rows', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  await (await openOn(t, server, url)).close();
  await runSql(
    server,
    `DELETE FROM background_migration WHERE name = 'event-indexes';
     ALTER TABLE admin_event RENAME TO admin_event_kept;
     CREATE VIEW admin_event AS SELECT generate_series(1, 1100000);
     UPDATE pg_class SET reltuples = 5000000 WHERE relname = 'admin_event'`,
    name,
  );
  await (await openOn(t, server, url)).continueBackgroundMigration();
  const rows = await runSql(server, `SELECT amount::int FROM record_count WHERE kind = 'migration'`, name);
  assert.deepEqual(rows, [{ amount: 5_000_000 }]);
});

test('SQLite: an older file that is open for reading has no background migrations', async (t) => {
  const reader = await (await openers['SQLite']!(t)).open('read');
  assert.deepEqual(await reader.listBackgroundMigrations(), []);
});
