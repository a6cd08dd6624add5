import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import type { Store } from '../../src/store/index.ts';
import { idBytes } from '../../src/store/records/id-bytes.ts';
import { aFamily, aRealm, aSession, START } from '../conformance/store/records.ts';
import { begin, rotation } from '../conformance/store/suite.ts';
import { applyAsRead } from '../store/as-read.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres();
const LATE = START + 10 * 365 * 86_400;

const clock = { now: () => START * 1000 };

/** Opens stores of one new database, and stores `count` expired sessions. */
async function expired(t: TestContext, count: number) {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const open = () => openOn(t, server, url, { clock });
  const stores = [await open(), await open(), await open()] as const;
  await begin(stores[0]);
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      stores[0].startSession(aSession({ id: `s${i}` }), aFamily({ id: `f${i}`, sessionId: `s${i}` })),
    ),
  );
  return { server, name, open, stores };
}

test('the stores of a database share the removal of expired sessions', { skip }, async (t) => {
  const { stores } = await expired(t, 299);
  const slices = await Promise.all(
    Array.from({ length: 30 }, (_, i) => stores[i % stores.length]!.sweep(LATE, 10)),
  );
  assert.equal(
    slices.reduce((sum, { removed }) => sum + removed, 0),
    300,
    'with the session of the beginning; none is counted twice',
  );
  assert.equal((await stores[1].figures()).userSessions, 0);
  assert.equal((await stores[1].figures()).tokenFamilies, 0);
});

test('a sweep neither waits for a locked session nor removes it', { skip }, async (t) => {
  const { server, name, stores } = await expired(t, 3);
  const other = new Client({ ...connectionOf(server), database: name });
  await other.connect();
  const bytes = (id: string) => `'\\x${Buffer.from(idBytes(id)).toString('hex')}'`;
  await other.query(`BEGIN; SELECT FROM token_family WHERE id = ${bytes('f1')} FOR UPDATE`);
  await other.query(`SELECT FROM user_session WHERE id = ${bytes('s2')} FOR KEY SHARE`);
  assert.deepEqual(await stores[0].sweep(LATE, 100), { removed: 2, handled: 2, more: false });
  assert.ok(await stores[0].findFamily('s1', 'f1'));
  assert.ok(await stores[0].findFamily('s2', 'f2'));
  await other.end();
  assert.equal((await stores[1].sweep(LATE, 100)).removed, 2);
});

test('a sweep continues after a full slice with a locked token family, unless nothing else is due', {
  skip,
}, async (t) => {
  const { server, name, stores } = await expired(t, 9);
  const other = new Client({ ...connectionOf(server), database: name });
  await other.connect();
  await other.query('UPDATE user_session SET look_again = 0 WHERE id = $1', [idBytes('s1')]);
  await other.query('BEGIN');
  await other.query('SELECT FROM token_family WHERE id = $1 FOR UPDATE', [idBytes('f1')]);
  const [store] = stores;
  assert.deepEqual(await store.sweep(LATE, 5), { removed: 4, handled: 4, more: true });
  assert.deepEqual(await store.sweep(LATE, 5), { removed: 4, handled: 4, more: true });
  assert.deepEqual(await store.sweep(LATE, 5), { removed: 1, handled: 1, more: false });
  assert.deepEqual(await store.sweep(LATE, 1), { removed: 0, handled: 0, more: false });
  await other.end();
  assert.deepEqual(await store.sweep(LATE, 5), { removed: 1, handled: 1, more: false });
});

test('a session that is refreshed or used while a sweep starts continues', { skip }, async (t) => {
  const { server, name, stores } = await expired(t, 200);
  const later = START + 7200;
  // The trigger delays the sweep between the lock of the sessions and that of the token families.
  await runSql(
    server,
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
     CREATE TRIGGER slow BEFORE DELETE ON token_family FOR EACH STATEMENT EXECUTE FUNCTION slow();`,
    name,
  );
  const sweep = stores[0].sweep(later, 500);
  const refreshed = Array.from({ length: 50 }, (_, i) => i * 4);
  const rotated = await Promise.all(
    refreshed.map((n) =>
      stores[1].rotateRefreshToken(rotation({ sessionId: `s${n}`, familyId: `f${n}`, now: later })),
    ),
  );
  await sweep;
  const alive = await Promise.all(refreshed.map((n) => stores[2].findFamily(`s${n}`, `f${n}`)));
  for (const [index, { outcome }] of rotated.entries())
    assert.equal(alive[index] !== undefined, outcome === 'rotated', `family f${refreshed[index]}`);
  assert.ok(rotated.some(({ outcome }) => outcome === 'rotated'));
});

test('one store removes old events, and another takes over if it ends or loses its connection', {
  skip,
}, async (t) => {
  const { server, name, open, stores } = await expired(t, 0);
  const [first, second, third] = stores;
  const { settings } = aRealm({});
  await applyAsRead(first, [
    { do: 'put', realm: aRealm({ settings: { ...settings, eventsExpiration: 60 } }) },
  ]);
  const sweepAll = async (store: Store) => {
    const event = { id: '1', time: START * 1000, type: 'LOGIN', realmId: 'realm-1', details: {} };
    await first.appendEvents([event]);
    await store.sweepEvents(LATE, 100);
    const left = await first.listEvents({ realmId: 'realm-1', first: 0, max: 10 });
    await first.clearEvents('realm-1');
    return left.length === 0;
  };
  assert.ok(await sweepAll(second));
  assert.ok(!(await sweepAll(third)));
  assert.ok(await sweepAll(second), 'the same one continues');
  await second.close();
  assert.ok(await sweepAll(third), 'the next one takes over');
  await runSql(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 3 AND granted`,
    name,
  );
  const fourth = await open();
  await waitUntil('a lost connection passes the right to another', () => sweepAll(fourth));
  assert.ok(!(await sweepAll(third)));
});
