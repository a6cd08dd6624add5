import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

const skip = missingPostgres() ?? false;
/** Maximum number of locks with a timeout that one store holds. */
const MOST = 512;

test('locks with a timeout cannot exhaust the lock table or the connection pool', {
  skip,
}, async (t) => {
  const server = await startPostgres({ after });
  const { name, url } = await makeDatabase(server);
  const [store, other] = [await openOn(t, server, url), await openOn(t, server, url)];
  const locks = async () => {
    const [row] = await runSql(
      server,
      `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory'`,
      name,
    );
    return Number(row!['n']);
  };
  const before = await locks();
  const taken = await Promise.all(
    Array.from({ length: MOST + 300 }, (_, number) => store.takeTurn(`guesses ${number}`, 100)),
  );
  const ends = taken.filter((end) => end !== undefined);
  assert.equal(ends.length, MOST);
  assert.equal((await locks()) - before, MOST);
  const elsewhere = await other.takeTurn('guesses of another', 5_000);
  assert.ok(elsewhere, 'another store can acquire as many locks');
  assert.deepEqual(await store.listRealmNames(), [], 'no connection of the pool is held');
  const change = await store.takeTurn('a change');
  await change();
  await Promise.all([...ends, elsewhere].map((end) => end()));
  assert.equal(await locks(), before);
  const next = await store.takeTurn('guesses 1', 5_000);
  assert.ok(next, 'locks are available again');
  await next();
});

test('a lock is released when its store loses the connection, and another store can then acquire it', {
  skip,
}, async (t) => {
  const server = await startPostgres({ after });
  const { name, url } = await makeDatabase(server);
  const [store, other] = [await openOn(t, server, url), await openOn(t, server, url)];
  const end = await store.takeTurn('guesses', 5_000);
  assert.ok(end);
  assert.equal(await other.takeTurn('guesses', 30), undefined);
  await runSql(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = ${0x69646b75}`,
    name,
  );
  const next = await other.takeTurn('guesses', 20_000);
  assert.ok(next);
  await end();
  assert.equal(
    await store.takeTurn('guesses', 30),
    undefined,
    'the end of the first does not end the second',
  );
  await next();
});
