import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRealm, aUser } from '../conformance/store/records.ts';
import { waitUntil } from '../wait-until.ts';
import { makeDatabase, openOn, runSql } from './databases.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const skip = missingPostgres() ?? false;
const USERS = 2000;

test('an import reads few rows for each user, even on a connection that planned its statements for an empty database', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  await store.apply([{ do: 'create', realm: aRealm({}) }]);
  const people = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      do: 'create' as const,
      user: aUser({
        id: `${prefix}-${index}`,
        username: `${prefix}-${index}`,
        email: `${prefix}-${index}@example.test`,
      }),
    }));
  // Apply single changes first, because Postgres caches the plan of a statement only after several calls.
  for (const one of people('first', 8)) await store.apply([one]);
  assert.deepEqual(await store.apply(people('second', USERS)), { outcome: 'applied' });
  const read = async () => {
    // Run another statement, because only then does the server update the statistics of the connection.
    await store.apply(people(`later-${Math.random()}`, 1));
    const [row] = await runSql(
      server,
      `SELECT n_tup_ins::int AS written, seq_tup_read::int +
        (SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes WHERE relname = 'account') AS read
      FROM pg_stat_user_tables WHERE relname = 'account'`,
      name,
    );
    return row as { written: number; read: number };
  };
  const { read: rows } = await waitUntil('the server has counted the import', async () => {
    const counted = await read();
    return counted.written > USERS ? counted : undefined;
  });
  assert.ok(rows < 200 * USERS, `${rows} rows of the table were read for ${USERS} users`);
});
