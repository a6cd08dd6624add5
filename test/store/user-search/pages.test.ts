import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Compilable } from 'kysely';
import type { Store, UserQuery } from '../../../src/store/index.ts';
import { inPages } from '../../../src/store/sql/lists.ts';
import { aUser } from '../../conformance/store/records.ts';
import { begin } from '../../conformance/store/suite.ts';
import { newStore } from '../files.ts';

const all = { realmId: 'realm-1', first: 0, max: Number.MAX_SAFE_INTEGER };

/** Creates a store with `users` users, of which one in 40 has the last name `rare`. */
async function manyUsers(t: TestContext, users: number): Promise<Store> {
  const { store, file } = await newStore(t);
  await begin(store);
  const database = new DatabaseSync(file);
  database.exec(`
    WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${users})
    INSERT INTO account (id, realm_id, username, last_name, enabled, email_verified, doc)
    SELECT hex(randomblob(8)), 'realm-1', 'user' || n, CASE WHEN n % 40 = 0 THEN 'rare' ELSE 'usual' END, 1, 0,
      '{"attributes":{},"requiredActions":[]}' FROM c`);
  database.close();
  return store;
}

/** Returns the statements that a list of users sends, and the number of users in it. */
async function statements(t: TestContext, store: Store, query: UserQuery & typeof all) {
  const { mock } = t.mock.method(store as unknown as { search(query: Compilable): unknown }, 'search');
  let users = 0;
  for await (const page of store.userPages(query)) users += page.length;
  const sent = mock.calls.map(({ arguments: [compilable] }) => compilable.compile().sql);
  mock.restore();
  return { users, sent };
}

test('a long list of users chooses the way of its search once', async (t) => {
  const store = await manyUsers(t, 45_000);
  const { users, sent } = await statements(t, store, { ...all, lastName: 'rar' });
  assert.equal(users, 1_125);
  assert.equal(sent.filter((sql) => sql.includes('sum(case')).length, 1, 'samples');
  assert.equal(sent.filter((sql) => sql.includes('search_trigram')).length, 0, 'compares all users in order');
});

test('a search without three characters in a row does not use the search index', async (t) => {
  const store = await manyUsers(t, 4_000);
  const { users, sent } = await statements(t, store, { ...all, search: '*99*', max: 2_000 });
  assert.equal(users, 76);
  assert.equal(sent.filter((sql) => sql.includes('sum(case')).length, 0, 'samples');
  for (const sql of sent.filter((sql) => sql.includes('search_user')))
    assert.doesNotMatch(sql, /\+account\.realm/);
});

test('a page of users ends after about a million bytes, or has ten users if it is the first of all', async (t) => {
  const { store } = await newStore(t);
  await begin(store);
  const long = 'x'.repeat(700_000);
  for (let i = 0; i < 12; i++)
    await store.apply([
      {
        do: 'create',
        user: aUser({
          id: `user-${i + 10}`,
          username: `name-${i + 10}`,
          roleIds: ['role-1'],
          ...(i >= 2 ? { attributes: { long: [long] } } : {}),
        }),
      },
    ]);
  const names = Array.from({ length: 12 }, (_, i) => `name-${i + 10}`);
  for (const query of [{}, { search: 'name' }, { search: '*me*' }]) {
    const found: string[] = [];
    for await (const page of store.userPages({ ...all, max: 100, ...query })) {
      const isFirst = found.length === 0 && Object.keys(query).length === 0;
      if (isFirst) assert.equal(page.length, 10);
      else assert.ok(JSON.stringify(page).length < 1_500_000, `${page.length} users in a page`);
      found.push(...page.map(({ username }) => username));
    }
    assert.deepEqual(
      found.filter((name) => name !== 'alice'),
      names,
      JSON.stringify(query),
    );
  }
  const sizes: number[] = [];
  for await (const page of store.roleUserPages('role-1', { first: 0, max: 100 })) sizes.push(page.length);
  assert.deepEqual(sizes, [10, 1, 1]);
});

test('pages grow, and shrink after a long one', async () => {
  const rows = Array.from({ length: 600 }, (_, i) => ({
    doc: 'x'.repeat(i >= 150 && i < 300 ? 100_000 : 10),
  }));
  const sizes: number[] = [];
  let place = 0;
  const read = async ({ first, max }: { first: number; max: number }) => {
    place += first;
    place += max;
    return rows.slice(place - max, place);
  };
  for await (const page of inPages({ first: 5, max: 590 }, read)) sizes.push(page.length);
  assert.deepEqual(sizes.slice(0, 4), [10, 100, 200, 13]);
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    590,
  );
});
