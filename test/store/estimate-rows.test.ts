import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { COUNTED_ROWS, estimateRows } from '../../src/store/sqlite/dump/estimate-rows.ts';

function fill(table: string, rows: number): string {
  return `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO ${table} SELECT i * 2, 'text' FROM n;`;
}

test('counts small tables exactly, and estimates large ones without reading them', () => {
  const database = new DatabaseSync(':memory:');
  const many = COUNTED_ROWS + 5000;
  database.exec(`
    CREATE TABLE event (seq INTEGER PRIMARY KEY, doc TEXT);
    CREATE TABLE credential (id INTEGER PRIMARY KEY, doc TEXT) WITHOUT ROWID;
    CREATE TABLE small (id INTEGER PRIMARY KEY, doc TEXT) WITHOUT ROWID;
    CREATE TABLE vacant (v);
    CREATE TABLE hidden (rowid TEXT, _rowid_ TEXT, oid TEXT);
    CREATE TABLE user_session (id INTEGER PRIMARY KEY, doc TEXT) WITHOUT ROWID;
    CREATE TABLE record_count (kind TEXT, owner TEXT, amount INTEGER, PRIMARY KEY (kind, owner)) WITHOUT ROWID;
    INSERT INTO record_count VALUES ('users', 'a', 400000), ('users', 'b', 300000), ('sessions', '', 9000000),
      ('offlineSessions', '', 1000000);
    CREATE TABLE far (id INTEGER PRIMARY KEY);
    INSERT INTO far VALUES (-9223372036854775807), (9223372036854775807);
    INSERT INTO hidden VALUES ('a', 'b', 'c'), ('d', 'e', 'f');
    ${fill('event', 10)} ${fill('credential', many)} ${fill('small', 20)}
  `);
  const estimate = (tables: readonly string[]) => [...estimateRows(database, tables)];
  assert.deepEqual(
    estimate(['event', 'credential', 'small', 'vacant', 'hidden', 'user_session', 'record_count']),
    [
      // Half of the numbers are unused.
      ['event', 19],
      ['credential', 700_000],
      ['small', 20],
      ['vacant', 0],
      ['hidden', 2],
      ['user_session', 10_000_000],
      ['record_count', 4],
    ],
  );
  assert.ok(estimate(['far'])[0]![1] > 1e18);
  assert.deepEqual(estimate(['credential', 'user_session']), [
    ['credential', COUNTED_ROWS],
    ['user_session', 0],
  ]);
  const plan = database.prepare('EXPLAIN QUERY PLAN SELECT (SELECT max(rowid) FROM event)').all();
  assert.ok(plan.some(({ detail }) => /SEARCH event/.test(String(detail))));
});
