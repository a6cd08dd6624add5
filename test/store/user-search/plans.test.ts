import assert from 'node:assert/strict';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { test } from 'node:test';
import { Client } from 'pg';
import type { UserQuery } from '../../../src/store/index.ts';
import {
  compiler,
  foundUsers,
  type SearchWay,
  userCount,
  userSample,
  userSearch,
} from '../../../src/store/queries/index.ts';
import { aRealm } from '../../conformance/store/records.ts';
import { begin } from '../../conformance/store/suite.ts';
import { connectionOf, makeDatabase, openOn } from '../databases.ts';
import { newStore } from '../files.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

// Checks which indexes the searches of users read among 50,000 users of one realm and 20 of another.

const USERS = 50_000;

/** Inserts the users. `n` is their number, and every statement of either database understands the expressions. */
const insertUsers = (series: string, hex: string, concat: string) => `
  INSERT INTO account (id, realm_id, username, email, first_name, last_name, enabled, email_verified, doc)
  SELECT ${hex} || '-' || n, CASE WHEN n % 2500 = 0 THEN 'realm-2' ELSE 'realm-1' END, 'user' || n,
    'user' || n || '@example.com', 'first' || (n % 100), 'last' || (n % 5000), 1, 0,
    ${concat} FROM ${series}`;

const DOC = `'{"attributes":{"team":["t' || (n % 1000) || '"]},"requiredActions":[]}'`;

const index: SearchWay = { by: 'index' };
const page = { realmId: 'realm-1', first: 0, max: 100 };
/** Searches with the way that they take, and the only index of which each database may read the users. */
const SEARCHES: readonly { query: UserQuery; way: SearchWay; sqlite: RegExp; postgres: RegExp }[] = [
  ...['user4711', '*4711*', '"last4711"', 'absent', 'us*4711'].map((search) => ({
    query: { ...page, search },
    way: index,
    sqlite: /search_trigram VIRTUAL TABLE INDEX/,
    postgres: /account_trigrams/,
  })),
  {
    query: { ...page, lastName: 'last4711' },
    way: index,
    sqlite: /search_trigram VIRTUAL TABLE INDEX/,
    postgres: /account_trigrams/,
  },
  {
    query: { ...page, attributes: { team: 't7' } },
    way: index,
    sqlite: /search_attribute VIRTUAL TABLE INDEX/,
    postgres: /account_attributes/,
  },
  {
    query: { ...page, email: 'user4711@example.com', exact: true },
    way: { by: 'exact' },
    sqlite: /account USING (?:COVERING )?INDEX account_email/,
    postgres: /account_email/,
  },
  {
    query: { ...page, username: 'user4711', exact: true },
    way: { by: 'exact' },
    sqlite: /account USING (?:COVERING )?INDEX sqlite_autoindex_account_2/,
    postgres: /account_realm_id_username_key/,
  },
  {
    query: { ...page, search: 'user' },
    way: { by: 'order', users: 1_000 },
    sqlite: /account USING INDEX sqlite_autoindex_search_user_1/,
    postgres: /account_realm_id_username_key/,
  },
];

/** Searches that the search index does not narrow. They read only the users of their realm. */
const SHORT: readonly UserQuery[] = [{ firstName: 'zz' }, { username: 'ab' }, { search: '*zz*' }].map(
  (query) => ({ ...page, ...query, realmId: 'realm-2' }),
);

test('sqlite: a search reads the search index, or the first users in order', async (t) => {
  const { store, file } = await newStore(t);
  await begin(store);
  await store.apply([{ do: 'create', realm: aRealm({ id: 'realm-2', name: 'other' }) }]);
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  database.exec(
    insertUsers(
      `(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${USERS}) SELECT n FROM c)`,
      'hex(randomblob(8))',
      DOC,
    ),
  );
  const plan = (sql: string, values: readonly unknown[]) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(values as SQLInputValue[]))
      .map(({ detail }) => String(detail));
  for (const { query, way, sqlite } of SEARCHES) {
    const { sql, parameters } = userSearch(compiler('sqlite'), 'sqlite', query, way).compile();
    const steps = plan(sql, parameters);
    const text = `${JSON.stringify(query)}\n${steps.join('\n')}`;
    assert.ok(
      steps.some((step) => sqlite.test(step)),
      text,
    );
    assert.ok(!steps.some((step) => /^SCAN (?:account|search_user)/.test(step)), text);
    if (way.by === 'index')
      assert.ok(
        steps.some((step) => /SEARCH account USING INTEGER PRIMARY KEY \(rowid=\?\)/.test(step)),
        text,
      );
  }
  for (const query of SHORT)
    for (const build of [userSearch, foundUsers, userCount]) {
      const { sql, parameters } = build(compiler('sqlite'), 'sqlite', query, index).compile();
      const text = plan(sql, parameters).join('\n');
      assert.match(
        text,
        /SEARCH account USING (?:COVERING )?INDEX sqlite_autoindex_search_user_1 \(realm=\?\)/,
      );
      assert.doesNotMatch(text, /SCAN account|SCAN search/);
    }
  const { sql, parameters } = userSample(
    compiler('sqlite'),
    'sqlite',
    { ...page, search: 'a' },
    1_000,
  ).compile();
  assert.match(
    plan(sql, parameters).join('\n'),
    /SEARCH account USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/,
  );
});

test('postgres: a search reads the search index, or the first users in order', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  await begin(store);
  await store.apply([{ do: 'create', realm: aRealm({ id: 'realm-2', name: 'other' }) }]);
  const client = new Client({ ...connectionOf(server), database: name });
  await client.connect();
  try {
    await client.query(
      insertUsers(`(SELECT n FROM generate_series(1, ${USERS}) AS n) AS c`, 'gen_random_uuid()', DOC),
    );
    await client.query('VACUUM ANALYZE account');
    const short = SHORT.map((query) => ({ query, way: index, postgres: /account_realm_id_username_key/ }));
    for (const { query, way, postgres } of [...SEARCHES, ...short]) {
      const { sql, parameters } = userSearch(compiler('postgres'), 'postgres', query, way).compile();
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) ${sql}`,
        [...parameters],
      );
      const steps = rows.map((row) => row['QUERY PLAN']);
      const text = `${JSON.stringify(query)}\n${steps.map((step) => step.slice(0, 160)).join('\n')}`;
      assert.ok(
        steps.some((step) => /Scan/.test(step) && postgres.test(step)),
        text,
      );
      assert.ok(!steps.some((step) => /Seq Scan on account/.test(step)), text);
      const read = steps.map((step) => Number(/ rows=(\d+) loops=\d+\)/.exec(step)?.[1] ?? 0));
      assert.ok(Math.max(...read) <= 1_000, text);
    }
  } finally {
    await client.end();
  }
});
