import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { Secret } from '../../src/core/index.ts';
import type { CheckedCounts, Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';
import { aFamily, aRealm, aSession, aUser, START } from '../conformance/store/records.ts';
import { begin, many } from '../conformance/store/suite.ts';
import { waitUntil } from '../wait-until.ts';
import { applyAsRead } from './as-read.ts';
import { connectionOf, makeDatabase, masterKey, openOn, runSql } from './databases.ts';
import { newStore } from './files.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;

/** Two stores of one database, and a way to run SQL that they do not know about. */
interface Place {
  stores: readonly [Store, Store];
  sql(text: string): Promise<unknown>;
  /** The arguments of a program that opens another store. */
  arguments: readonly string[];
}

const databases: Readonly<Record<string, (t: TestContext) => Promise<Place>>> = {
  sqlite: async (t) => {
    const { store, file, masterKey: key } = await newStore(t);
    const sql = async (text: string) => {
      const database = new DatabaseSync(file, { timeout: 10_000 });
      database.exec(text);
      database.close();
    };
    return { stores: [store, store], sql, arguments: [key.reveal(), file] };
  },
  postgres: async (t) => {
    const { name, url } = await makeDatabase(server!);
    return {
      stores: [await openOn(t, server!, url), await openOn(t, server!, url)],
      sql: (text) => runSql(server!, text, name),
      arguments: [masterKey.reveal(), url, server!.password],
    };
  },
};

const OLDER = 'DELETE FROM record_count; DELETE FROM count_check;';
const OLDER_POSTGRES = `${OLDER} DELETE FROM count_change; DELETE FROM session_client_change;`;

for (const [name, open] of Object.entries(databases)) {
  const skip = name === 'postgres' && (missing ?? false);
  const rule = (title: string, run: (place: Place, t: TestContext) => Promise<void>) =>
    test(`${name}: ${title}`, { skip }, async (t) => run(await open(t), t));

  rule(
    'reads the counts of all clients of a realm as an administrative read',
    async ({ stores: [store] }) => {
      await begin(store);
      await store.checkCounts();
      const inner = store as unknown as { all: (query: string, ...rest: unknown[]) => unknown };
      const original = inner.all;
      const read: string[] = [];
      inner.all = (query, ...rest) => {
        read.push(query);
        return original.call(store, query, ...rest);
      };
      assert.equal((await store.countClientSessions('realm-1')).length, 1);
      assert.ok(!read.includes('count.ofClients'), read.join());
    },
  );

  rule('the first check of an older database is exact although records change meanwhile', async (place) => {
    const [store, other] = place.stores;
    await begin(store);
    await start(place.stores, 'before', 100);
    await place.sql(name === 'sqlite' ? OLDER : OLDER_POSTGRES);
    const [checked] = await Promise.all([
      checkAll(other),
      start(place.stores, 'during', 100),
      end(place.stores, 'before', 50),
    ]);
    assert.deepEqual(
      checked.map(({ check, isFirst }) => [check, isFirst]),
      ['users', 'sessions', 'families', 'logins', 'actions'].map((check) => [check, true]),
    );
    for (const one of place.stores) assert.deepEqual(await counts(one), [1, 151, 151, 151]);
    assert.equal((await store.figures()).countDrift, 0, 'a first check reports no fault');
    assert.deepEqual(await checkAll(other), [], 'no check is due');
  });

  rule('a check corrects counts that differ, and reports the differences', async (place) => {
    const [store, other] = place.stores;
    await begin(store);
    await place.sql(`UPDATE count_check SET checked_at = 0;
      INSERT INTO record_count (kind, owner, amount) VALUES ('users', 'gone', 2), ('clientSessions', 'ff', 3);`);
    await place.sql(
      name === 'sqlite'
        ? `UPDATE record_count SET amount = amount - 1 WHERE kind = 'families'`
        : `INSERT INTO count_change (kind, owner, amount) VALUES ('families', '', -1)`,
    );
    const checked = await checkAll(other);
    const drifts = checked.flatMap((one) => one.drifts.map((drift) => ({ ...drift })));
    assert.deepEqual(
      drifts.sort((a, b) => a.drift - b.drift),
      [
        { kind: 'clientSessions', owner: 'ff', drift: -3 },
        { kind: 'users', owner: 'gone', drift: -2 },
        { kind: 'families', owner: '', drift: 1 },
      ],
    );
    for (const one of place.stores) assert.deepEqual(await counts(one), [1, 1, 1, 1]);
    const figures = await other.figures();
    assert.equal(figures.countDrift, 6);
    assert.ok(figures.countsCheckedAt !== undefined && figures.countsCheckedAt > 0);
  });

  rule('two stores that check at the same time correct a difference once', async (place) => {
    await begin(place.stores[0]);
    await start(place.stores, 'more', 20);
    await place.sql(name === 'sqlite' ? OLDER : OLDER_POSTGRES);
    const rounds = await Promise.all(place.stores.map(checkAll));
    assert.equal(rounds.flat().length >= 4, true);
    await checkAll(place.stores[0]);
    assert.deepEqual(await counts(place.stores[0]), [1, 21, 21, 21]);
    assert.equal((await place.stores[0].figures()).countDrift, 0);
  });

  rule('required actions of any length do not stop the counts', async (place) => {
    const [store, other] = place.stores;
    await begin(store);
    const actions = { short: ['UPDATE_PASSWORD'], long: [] as string[] };
    actions.long = Array.from({ length: 300 }, () => randomBytes(18).toString('base64'));
    const users = Object.entries(actions).map(([id, requiredActions]) =>
      aUser({ id, username: id, requiredActions }),
    );
    await store.apply(users.map((user) => ({ do: 'create', user })));
    assert.deepEqual(await store.sweepEvents(START, 10), { removed: 0, handled: 0, more: false });
    const pending = name === 'sqlite' ? [] : await place.sql('SELECT FROM count_change');
    assert.deepEqual(pending, [], 'all changes are added up');
    assert.equal(await other.countUsers({ realmId: 'realm-1' }), 3);
    await place.sql('UPDATE count_check SET checked_at = 0');
    assert.deepEqual(
      (await checkAll(other)).flatMap(({ drifts }) => drifts),
      [],
    );
    const counted = async () => [...(await other.countRequiredActions('realm-1'))];
    assert.deepEqual(await counted(), [['UPDATE_PASSWORD', 1]], 'actions that are too long are not counted');
    await applyAsRead(
      store,
      users.map((user) => ({ do: 'put', user: { ...user, requiredActions: ['UPDATE_PASSWORD'] } })),
    );
    assert.deepEqual(await counted(), [['UPDATE_PASSWORD', 2]]);
  });

  rule('after kill -9 under load, the counts equal the records', async (place, t) => {
    const [store] = place.stores;
    await begin(store);
    if (name === 'sqlite') await store.close();
    const program = fileURLToPath(new URL('./sessions-until-killed.ts', import.meta.url));
    const child = spawn(process.execPath, [program, ...place.arguments], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const closed = once(child, 'close');
    let lines = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      lines += chunk.toString().split('\n').length - 1;
    });
    await waitUntil('the program has written sessions', () => lines >= 300, { seen: () => `${lines} lines` });
    child.kill('SIGKILL');
    await closed;
    const again =
      name === 'sqlite'
        ? await openStore({ file: place.arguments[1]!, masterKey: new Secret(place.arguments[0]!) })
        : store;
    t.after(() => again.close());
    // On Postgres, the server may still be running the last transactions of the killed process.
    await place.sql('UPDATE count_check SET checked_at = 0');
    const drifts = (await checkAll(again)).flatMap((one) => one.drifts);
    assert.deepEqual(drifts, []);
    const [, sessions] = await counts(again);
    assert.ok(sessions! >= 1);
  });
}

test('postgres: logins of one realm do not wait for each other’s counts', {
  skip: missing ?? false,
}, async (t) => {
  const place = await databases['postgres']!(t);
  const [store, other] = place.stores;
  await begin(store);
  const blocking = new Client({
    ...connectionOf(server!),
    database: new URL(place.arguments[1]!).pathname.slice(1),
  });
  await blocking.connect();
  t.after(() => blocking.end());
  // This transaction has changed the same counts and does not end.
  await blocking.query(
    `BEGIN; DELETE FROM user_session; INSERT INTO count_change VALUES ('sessions', '', 5)`,
  );
  await start([other, other], 'free', 20);
  assert.deepEqual(await counts(other), [1, 21, 21, 21], 'it counts only what is committed');
  await store.sweepEvents(START, 1);
  assert.deepEqual(await counts(store), [1, 21, 21, 21], 'the changes are added up without waiting too');
  await blocking.query('ROLLBACK');
});

test('postgres: old events are removed although the changes of counts cannot be added up', {
  skip: missing ?? false,
}, async (t) => {
  const { stores, sql } = await databases['postgres']!(t);
  const [store] = stores;
  await begin(store);
  const { settings } = aRealm({});
  await applyAsRead(store, [
    { do: 'put', realm: aRealm({ settings: { ...settings, eventsExpiration: 60 } }) },
  ]);
  const event = { id: '1', time: START * 1000, type: 'LOGIN', realmId: 'realm-1', details: {} };
  await store.appendEvents([event]);
  await sql('ALTER TABLE record_count ADD CONSTRAINT none CHECK (amount < 0) NOT VALID');
  await sql(`INSERT INTO count_change VALUES ('sessions', '', 5)`);
  const { removed, fault } = await store.sweepEvents(START + 61, 10);
  assert.equal(removed, 1);
  assert.match(String(fault), /violates check constraint/);
});

test('postgres: each slice of a sweep deletes events only in realms with old ones', {
  skip: missing ?? false,
}, async (t) => {
  const { stores, sql } = await databases['postgres']!(t);
  const [store] = stores;
  const { settings } = aRealm({});
  const ids = Array.from({ length: 12 }, (_, i) => `realm-${i}`);
  await store.apply(
    ids.map((id) => ({
      do: 'create',
      realm: aRealm({ id, name: id, settings: { ...settings, eventsExpiration: 60 }, secrets: {} }),
    })),
  );
  const times = ids.map((realmId) => ({ realmId, time: START * 1000 }));
  const old = ['realm-3', 'realm-7'].map((realmId) => ({ realmId, time: (START - 61) * 1000 }));
  await store.appendEvents(
    [...times, ...old].map((of, i) => ({ ...of, id: `${i}`, type: 'LOGIN', details: {} })),
  );
  await sql(`CREATE TABLE deletion (at timestamptz);
    CREATE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO deletion VALUES (now()); RETURN NULL; END';
    CREATE TRIGGER deletions AFTER DELETE ON event FOR EACH STATEMENT EXECUTE FUNCTION note_deletion();`);
  assert.deepEqual(await store.sweepEvents(START, 10), { removed: 2, handled: 2, more: false });
  assert.deepEqual(await sql('SELECT count(*)::int AS n FROM deletion'), [{ n: 2 }]);
});

/** Starts sessions in parallel. */
async function start(stores: Place['stores'], name: string, count: number): Promise<void> {
  await many(count, stores, (store, i) =>
    store.startSession(
      aSession({ id: `${name}-${i}` }),
      aFamily({ id: `${name}-${i}`, sessionId: `${name}-${i}` }),
    ),
  );
}

/** Ends sessions in parallel. */
async function end(stores: Place['stores'], name: string, count: number): Promise<void> {
  await many(count, stores, (store, i) => store.endSession(`${name}-${i}`, false));
}

/** Runs the checks that are due. */
async function checkAll(store: Store): Promise<CheckedCounts[]> {
  const all: CheckedCounts[] = [];
  for (let one = await store.checkCounts(); one !== undefined; one = await store.checkCounts()) all.push(one);
  return all;
}

/** Returns the numbers of users, sessions, token families, and sessions of the client. */
async function counts(store: Store): Promise<readonly number[]> {
  const { userSessions, tokenFamilies } = await store.figures();
  const users = await store.countUsers({ realmId: 'realm-1' });
  return [users, userSessions, tokenFamilies, (await store.countSessionsOfClient('client-1')).online];
}
