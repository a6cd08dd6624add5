import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { aFamily, aSession } from '../../conformance/store/records.ts';
import { begin, many } from '../../conformance/store/suite.ts';
import { waitUntil } from '../../wait-until.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;

test('ends all sessions of a realm although another transaction ends some of them at the same time', {
  skip: missing ?? false,
}, async (t) => {
  const { store, other, untilWaiting } = await prepare(t);
  await many(250, [store, store], (one, i) =>
    one.startSession(aSession({ id: `more-${i}` }), aFamily({ id: `more-${i}`, sessionId: `more-${i}` })),
  );
  await other.query(
    'BEGIN; DELETE FROM user_session WHERE ctid IN (SELECT ctid FROM user_session LIMIT 120)',
  );
  const ending = store.endRealmSessions('realm-1');
  await untilWaiting();
  await other.query('COMMIT');
  assert.deepEqual(await ending, { ended: 131 });
  assert.deepEqual(await store.listUserSessions('user-1', false), []);
});

test('removes all events of a realm although another transaction removes some of them at the same time', {
  skip: missing ?? false,
}, async (t) => {
  const { store, other, untilWaiting } = await prepare(t);
  await store.appendEvents(
    Array.from({ length: 250 }, (_, i) => ({
      id: `event-${i}`,
      time: i,
      type: 'LOGIN',
      realmId: 'realm-1',
      details: {},
    })),
  );
  await other.query('BEGIN; DELETE FROM event WHERE time < 20');
  const clearing = store.clearEvents('realm-1');
  await untilWaiting();
  await other.query('COMMIT');
  await clearing;
  assert.deepEqual(await store.listEvents({ realmId: 'realm-1', first: 0, max: 10 }), []);
});

/** Opens a store and a connection for another transaction. */
async function prepare(t: TestContext) {
  const pg = server!;
  const { name, url } = await makeDatabase(pg);
  const store = await openOn(t, pg, url);
  await begin(store);
  const other = new Client({ ...connectionOf(pg), database: name });
  await other.connect();
  t.after(() => other.end());
  const waits = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`;
  const untilWaiting = () =>
    waitUntil('the first slice waits for the other transaction', async () => {
      const [row] = await runSql(pg, waits);
      return row!['n'] === 1;
    });
  return { store, other, untilWaiting };
}
