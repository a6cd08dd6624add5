import assert from 'node:assert/strict';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import type { User } from '../../../src/model/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { openStore } from '../../../src/store/open.ts';
import { withoutNul } from '../../../src/store/postgres/prepared.ts';
import { isOfSearchIndex } from '../../../src/store/sqlite/search-index.ts';
import { aRealm, aRole, aUser } from '../../conformance/store/records.ts';
import { begin } from '../../conformance/store/suite.ts';
import { connectionOf, makeDatabase, openOn } from '../databases.ts';
import { newStore } from '../files.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';
import { compareWays, type Searched } from './compare.ts';
import { create, person, Seeded } from './people.ts';

// Checks on generated users that the search index finds the same users as a comparison of all users.

const SEED = 20_260_712;

async function fill(store: Store, random: Seeded, count: number): Promise<User[]> {
  await begin(store);
  await store.apply([
    { do: 'create', realm: aRealm({ id: 'realm-2', name: 'other', defaultRoleId: 'role-2' }) },
    { do: 'create', role: aRole({ id: 'role-2', realmId: 'realm-2' }) },
  ]);
  const users = Array.from({ length: count }, (_, number) =>
    person(random, number, random.once(3) ? 'realm-2' : 'realm-1'),
  );
  assert.deepEqual(await store.apply(create(users)), { outcome: 'applied' });
  return users;
}

/** Changes and removes users. Some of the changes are rejected and rolled back. */
async function change(store: Store, random: Seeded, users: User[]): Promise<void> {
  for (let time = 0; time < 60; time++) {
    const at = random.number(users.length);
    const user = users[at]!;
    const next = { ...person(random, 1_000 + time, user.realmId), id: user.id };
    const stored = await store.findUser(user.realmId, user.id);
    if (stored === undefined || stored.serviceAccountClientUuid !== undefined) continue;
    const put = { do: 'put', user: { ...stored, ...next } } as const;
    const kind = random.number(3);
    if (kind === 0) {
      const other = users[(at + 1) % users.length]!;
      const taken = aUser({ id: 'new', realmId: user.realmId, username: next.username });
      const refused = await store.apply([
        put,
        { do: 'remove', what: 'user', id: other.id },
        ...create([taken]),
      ]);
      assert.notEqual(refused.outcome, 'applied');
    } else if (kind === 1) {
      assert.equal((await store.apply([{ do: 'remove', what: 'user', id: user.id }])).outcome, 'applied');
    } else {
      assert.equal((await store.apply([put])).outcome, 'applied');
      users[at] = next;
    }
  }
}

async function checkAll(searched: Searched, random: Seeded): Promise<void> {
  const users = await fill(searched.store, random, 300);
  assert.ok((await compareWays(searched, random, users, 250)) > 300, 'most searches find some users');
  await change(searched.store, random, users);
  assert.ok((await compareWays(searched, random, users, 150)) > 150);
  await searched.store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]);
  await compareWays(searched, random, users, 50);
}

function onSqlite(t: TestContext, store: Store, file: string): Searched {
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  const run = async (sql: string, values: readonly unknown[]) =>
    database.prepare(sql).all(...(values as SQLInputValue[]));
  return { dialect: 'sqlite', store, run };
}

test('sqlite: the search index finds the same users as a comparison of all users', async (t) => {
  const { store, file } = await newStore(t);
  await checkAll(onSqlite(t, store, file), new Seeded(SEED));
});

test('postgres: the search index finds the same users as a comparison of all users', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  const client = new Client({ ...connectionOf(server), database: name });
  await client.connect();
  const run = async (text: string, values: readonly unknown[]) => {
    const bound = values.map((value) => (typeof value === 'string' ? withoutNul(value) : value));
    return (await client.query<Record<string, unknown>>(text, bound)).rows;
  };
  try {
    await checkAll({ dialect: 'postgres', store, run }, new Seeded(SEED));
  } finally {
    await client.end();
  }
});

test('sqlite: fills the search index of an older database while users change, and continues after an interruption', async (t) => {
  const { store, file, masterKey } = await newStore(t);
  const random = new Seeded(SEED + 1);
  const users = await fill(store, random, 600);
  await store.close();
  const raw = new DatabaseSync(file);
  for (const { type, name } of raw
    .prepare(
      `SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'table') ORDER BY type DESC, name`,
    )
    .all())
    if (isOfSearchIndex(String(name)))
      raw.exec(`DROP ${type === 'trigger' ? 'TRIGGER' : 'TABLE'} IF EXISTS "${name}"`);
  raw.close();

  const reader = await openStore({ file, masterKey, mode: 'read' });
  assert.ok(
    (await reader.countUsers({ realmId: 'realm-1', search: '*a*' })) > 0,
    'searches without an index',
  );
  await reader.close();

  for (let part = 0; part < 3; part++) {
    const opened = await openStore({ file, masterKey });
    assert.deepEqual(
      (await opened.listBackgroundMigrations()).map(({ name }) => name),
      ['user-search'],
    );
    assert.equal((await opened.continueBackgroundMigration())?.finished, part === 2);
    await change(opened, random, users);
    await opened.close();
  }
  const filled = await openStore({ file, masterKey });
  t.after(() => filled.close());
  assert.deepEqual(await filled.listBackgroundMigrations(), []);
  assert.ok((await compareWays(onSqlite(t, filled, file), random, users, 200)) > 200);
});
