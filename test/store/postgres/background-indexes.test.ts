import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../../src/core/index.ts';
import { connectionsTo } from '../../../src/postgres/driver.ts';
import { buildIndexes } from '../../../src/store/postgres/background-indexes.ts';
import { makeDatabase, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

const skip = missingPostgres();

const INDEXES = [
  { name: 'thing_name', sql: 'CREATE INDEX thing_name ON thing (name)' },
  { name: 'thing_number', sql: 'CREATE UNIQUE INDEX thing_number ON thing (number)' },
];

test('builds indexes in the background, replaces an invalid one, and leaves valid ones alone', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const run = (sql: string) => runSql(server, sql, name);
  await run(`CREATE TABLE thing (name text, number int); INSERT INTO thing VALUES ('a', 1), ('b', 1)`);
  const connections = connectionsTo({ url, password: new Secret(server.password) }, { holdsLock: false });
  t.after(() => connections.close());
  const calls: string[] = [];
  const onBuild = (index: string) => {
    calls.push(index);
    return () => void calls.push(`${index} is complete`);
  };
  const stopping = new AbortController().signal;
  const build = () => buildIndexes(connections, INDEXES, { stopping, onBuild });
  const state = () =>
    run(
      `SELECT indexrelid::regclass::text AS name, indisvalid AS valid, indexrelid::int AS id
       FROM pg_index WHERE indrelid = 'thing'::regclass ORDER BY 1`,
    );

  await assert.rejects(build());
  const [first, second] = await state();
  assert.deepEqual([first?.['valid'], second?.['valid']], [true, false]);
  await run('UPDATE thing SET number = 2 WHERE name = $$b$$');
  assert.equal(await build(), true);
  const after = await state();
  assert.deepEqual(
    after.map(({ valid }) => valid),
    [true, true],
  );
  assert.equal(after[0]?.['id'], first?.['id'], 'the valid index is the same');
  const complete = INDEXES.flatMap((index) => [index.name, `${index.name} is complete`]);
  assert.deepEqual(
    calls,
    [...complete.slice(0, 3), ...complete.slice(2)],
    'the first build of thing_number failed',
  );

  const held = await connections.open();
  await held.query('SELECT pg_advisory_lock(1768188788, 4)');
  assert.equal(await build(), false, 'another store is building');
  await held.end();
});
