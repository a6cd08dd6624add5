import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { COMPILED_QUERIES as POSTGRES } from '../../src/store/queries/compiled/postgres.ts';
import { COMPILED_QUERIES as SQLITE } from '../../src/store/queries/compiled/sqlite.ts';
import { migrate } from '../../src/store/sqlite/schema-state.ts';
import { makeDatabase, openOn, runSql } from './databases.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

// The plans of the queries that skip entries or read the first ones. A plan that sorts or reads whole rows takes
// seconds in a large realm.

/** For each query, the part of the plan that must be in it, on SQLite and on Postgres. */
const PLANS = {
  'account.skip': [
    /COVERING INDEX sqlite_autoindex_account_2 \(realm_id=\? AND username>\?\)/,
    /Index Only Scan using account_realm_id_username_key/,
  ],
  'user.unverified': [/INDEX account_unverified \(realm_id=\?\)/, /Index Only Scan using account_unverified/],
  'account.serviceAccountsBetween': [/INDEX account_service/, /account_service/],
  'user.listed': [
    /SEARCH account USING INDEX sqlite_autoindex_account_2 \(realm_id=\? AND username>\?\)/,
    /Index Scan using account_realm_id_username_key/,
  ],
  'user.withRole': [
    /COVERING INDEX user_role_username \(role_id=\? AND username>\?\)/,
    /Index Scan using user_role_username/,
  ],
  'user.inGroup': [
    /COVERING INDEX user_group_username \(group_id=\? AND username>\?\)/,
    /Index Scan using user_group_username/,
  ],
  'user.withRole.skip': [/COVERING INDEX user_role_username/, /Index Only Scan using user_role_username/],
  'user.inGroup.skip': [/COVERING INDEX user_group_username/, /Index Only Scan using user_group_username/],
  // On Postgres, the subquery keeps the server from reading all sessions in the order of their ids.
  'session.ofUser': [
    /INDEX user_session_of_user \(user_id=\? AND id>\?\)/,
    /Sort Key: user_session_1.id\s+-> {2}Subquery Scan/,
  ],
  'session.ofClient': [
    /COVERING INDEX token_family_of_client \(client_uuid=\? AND offline=\? AND session_id>\?\)/,
    /Index Only Scan using token_family_of_client/,
  ],
} as const;

test('sqlite: lists begin at any place without sorting or reading whole rows', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  for (const [name, [wanted]] of Object.entries(PLANS)) {
    const { sql, bind } = SQLITE[name as keyof typeof PLANS];
    const values = bind.map((item) => ('value' in item ? (item.value as string) : 1));
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => detail)
      .join('\n');
    assert.match(plan, wanted, name);
  }
  database.close();
});

test('postgres: lists begin at any place without sorting or reading whole rows', {
  skip: missingPostgres() ?? false,
}, async (t) => {
  const server = await startPostgres(t);
  const { name: database, url } = await makeDatabase(server);
  await openOn(t, server, url);
  for (const [name, [, wanted]] of Object.entries(PLANS)) {
    const { sql } = POSTGRES[name as keyof typeof PLANS];
    const parameters = [...new Set(sql.match(/\$\d+/g))].map(() => 'NULL').join(', ');
    // An empty table is always read whole, unless that is ruled out.
    const rows = await runSql(
      server,
      `SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET plan_cache_mode = force_generic_plan;
       PREPARE list AS ${sql}; EXPLAIN EXECUTE list (${parameters})`,
      database,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(plan, wanted, `${name}\n${plan}`);
  }
});
