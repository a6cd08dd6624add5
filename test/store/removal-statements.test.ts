import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { COMPILED_QUERIES } from '../../src/store/queries/compiled/sqlite.ts';
import type { QueryName } from '../../src/store/queries/compiled/types.ts';
import { migrate } from '../../src/store/sqlite/schema-state.ts';
import { Refused } from '../../src/store/verbs/apply.ts';
import { removeRecord } from '../../src/store/verbs/remove.ts';
import { type Database, drive, type Steps } from '../../src/store/verbs/steps.ts';
import { TouchedRecords } from '../../src/store/verbs/touched.ts';
import { stepsOf } from '../../src/store/verbs/verbs.ts';

/** Runs a verb on a database that has only the given rows. Returns the names of its statements. */
function statementsOf(steps: Steps<unknown>, rows: Partial<Record<QueryName, object>>): string[] {
  const statements: string[] = [];
  const database = {
    run: (query: QueryName) => statements.push(query),
    get: (query: QueryName) => {
      statements.push(query);
      return rows[query];
    },
    all: (query: QueryName) => {
      statements.push(query);
      return [];
    },
  };
  try {
    drive(database as unknown as Database, steps);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    statements.push('refused');
  }
  return statements;
}

test('reads the sessions of a realm’s users only if the realm has few users and events', () => {
  const of = (rows: Partial<Record<QueryName, object>>) => {
    const changes = [{ do: 'remove', table: 'realm', id: 'realm-1' }];
    const input = { changes, bounded: true, unbounded: [] };
    return statementsOf(stepsOf('apply', input as never), rows);
  };
  for (const query of ['many.users', 'many.events', 'many.adminEvents'] as const) {
    const statements = of({ [query]: {} });
    assert.ok(statements.includes(query) && !statements.includes('many.sessionsOfRealm'), query);
  }
  assert.ok(of({}).includes('many.sessionsOfRealm'));
});

test('removing a user searches an index for the failed logins of this user', () => {
  const user = { id: 'user-1', realm_id: 'realm-1' };
  const removal = removeRecord('account', 'user-1', new TouchedRecords());
  const names = statementsOf(removal, { 'account.byId': user });
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const plans = names
    .map((name) => COMPILED_QUERIES[name as QueryName])
    .filter(({ sql }) => sql.includes('login_failures'))
    .map(({ sql, bind }) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...bind.map(() => '')));
  assert.equal(plans.length, 1);
  assert.match(String(plans[0]![0]!['detail']), /^SEARCH login_failures .*\(realm_id=\? AND user_id=\?\)/);
  database.close();
});
