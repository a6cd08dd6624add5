import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { createDumpInspector } from '../../src/backupset/index.ts';
import { SERVICE_LOCK } from '../../src/postgres/index.ts';
import type { Store } from '../../src/store/index.ts';
import { checkSqlite, dumpSqlite, loadSqlite, openStore } from '../../src/store/open.ts';
import { aClient, aRealm, aUser, hash, START } from '../conformance/store/records.ts';
import { waitUntil } from '../wait-until.ts';
import { connectionOf, makeDatabase, openOn, runSql } from './databases.ts';
import { newStore } from './files.ts';
import {
  isOldOffline,
  makeFirstReleasePostgres,
  makeFirstReleaseSqlite,
  type OldSessions,
  oldFamilyId,
  oldHash,
  oldSessionId,
} from './first-release.ts';
import { missingPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

const USERS = Array.from({ length: 10 }, (_, i) => `user-${i}`);
const CLIENTS = ['client-1', 'a1b2c3d4-0000-4000-8000-000000000001'] as const;
const clock = { now: () => START * 1000 };
const old = (count: number): OldSessions => ({
  count,
  realmId: 'realm-1',
  userIds: USERS,
  clientUuids: CLIENTS,
  startedAt: START,
});

async function fill(store: Store): Promise<void> {
  const applied = await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', client: aClient({ id: CLIENTS[1], clientId: 'two' }) },
    ...USERS.map((id) => ({ do: 'create', user: aUser({ id, username: id }) }) as const),
  ]);
  assert.deepEqual(applied, { outcome: 'applied' });
  await store.close();
}

/** A database of version 0.1.0. */
interface OldDatabase {
  open(): Promise<Store>;
  /** Counts rows of the tables of the older version. */
  unmoved(): Promise<number>;
}

type Make = (t: TestContext, count: number) => Promise<OldDatabase>;

const onSqlite: Make = async (t, count) => {
  const { store, file, masterKey: key } = await newStore(t);
  await fill(store);
  const older = `${file}.older`;
  makeFirstReleaseSqlite(file, older, old(count));
  return {
    open: () => openStore({ file: older, masterKey: key, clock }),
    unmoved: async () => {
      const database = new DatabaseSync(older, { readOnly: true });
      const row = database
        .prepare('SELECT (SELECT count(*) FROM user_session_0) + (SELECT count(*) FROM token_family_0) AS n')
        .get();
      database.close();
      return Number(row?.['n']);
    },
  };
};

async function makeOnPostgres(t: TestContext, server: PostgresServer, count: number) {
  const [current, older] = [await makeDatabase(server), await makeDatabase(server)];
  await fill(await openOn(t, server, current.url, { clock }));
  await makeFirstReleasePostgres(server, current.name, older.name, old(count));
  return older;
}

const onPostgres: Make = async (t, count) => {
  const server = await startPostgres(t);
  const { url, name } = await makeOnPostgres(t, server, count);
  return {
    open: () => openOn(t, server, url, { clock }),
    unmoved: async () => {
      const rows = await runSql(
        server,
        'SELECT ((SELECT count(*) FROM user_session_0) + (SELECT count(*) FROM token_family_0))::int AS n',
        name,
      );
      return Number(rows[0]!['n']);
    },
  };
};

async function moveAll(store: Store): Promise<void> {
  while ((await store.listBackgroundMigrations()).some(({ name }) => name === 'session rows'))
    await store.continueBackgroundMigration();
}

const rotate = (store: Store, n: number, presented: Buffer, next: string, which: 'f' | 'g' = 'f') =>
  store.rotateRefreshToken({
    sessionId: oldSessionId(n),
    familyId: oldFamilyId(n, which),
    presentedHash: presented,
    nextHash: hash(next),
    now: START + 10,
    singleUse: true,
    maxReuse: 0,
  });

/** Numbers from 0 to `count - 1` that fulfil a condition. */
const numbers = (count: number, fulfils: (n: number) => boolean = () => true): number[] =>
  Array.from({ length: count }, (_, n) => n).filter(fulfils);

for (const [database, make, skip] of [
  ['SQLite', onSqlite, undefined],
  ['Postgres', onPostgres, missingPostgres()],
] as const) {
  test(`${database}: sessions of version 0.1.0 can be used before and after they are moved`, {
    skip: skip ?? false,
  }, async (t) => {
    const count = 730;
    const { open, unmoved } = await make(t, count);
    const store = await open();
    assert.equal((await store.countClientSessions('realm-1')).length, 2);
    const { userSessions, offlineSessions, tokenFamilies } = await store.figures();
    assert.deepEqual([userSessions, offlineSessions, tokenFamilies], [657, 73, 835]);
    const find = (n: number, which: 'f' | 'g' = 'f') =>
      store.findFamily(oldSessionId(n), oldFamilyId(n, which));

    assert.deepEqual(await find(0), {
      family: {
        id: oldFamilyId(0),
        sessionId: oldSessionId(0),
        offline: false,
        realmId: 'realm-1',
        clientUuid: 'client-1',
        userId: 'user-0',
        currentHash: oldHash(0, 'newest'),
        parentHash: oldHash(0, 'parent'),
        parentUses: 1,
        scope: 'openid email',
        startedAt: START,
        lastRefreshAt: START,
        notes: { nonce: 'n' },
      },
      session: {
        id: oldSessionId(0),
        offline: false,
        realmId: 'realm-1',
        userId: 'user-0',
        startedAt: START,
        lastAccessAt: START,
        ipAddress: '192.0.2.0',
        rememberMe: false,
        notes: { auth_time: '1', acr: 'ä"1' },
      },
    });
    assert.deepEqual((await find(7, 'g'))?.family.clientUuid, CLIENTS[1]);
    assert.equal((await store.findSession(oldSessionId(19), true))?.offline, true);
    assert.equal(await store.findSession(oldSessionId(19), false), undefined);
    assert.equal(await store.findSession(oldSessionId(count), false), undefined);
    assert.equal(await store.findFamily(oldSessionId(1), oldFamilyId(2)), undefined);
    assert.equal(await store.hasFamily(oldSessionId(14), false, CLIENTS[1]), true);
    assert.deepEqual(await rotate(store, 1, oldHash(1, 'newest'), 'next 1'), { outcome: 'rotated' });
    assert.deepEqual(await rotate(store, 2, oldHash(2, 'parent'), 'thief'), {
      outcome: 'reused',
      reason: 'exceeded',
      clientUuids: ['client-1'],
    });
    assert.equal(await store.findSession(oldSessionId(2), false), undefined);
    assert.deepEqual(await store.endSession(oldSessionId(4), false), { ended: true });
    assert.deepEqual(await store.endSession(oldSessionId(4), false), { ended: false });
    assert.deepEqual(await store.removeFamily(oldSessionId(6), oldFamilyId(6)), { removed: true });

    const gone = new Set([2, 4, 6]);
    const living = numbers(count, (n) => !gone.has(n));
    const listed = async (offline: boolean, clientUuid: string) => {
      const ids: string[] = [];
      for await (const page of store.clientSessionPages({ clientUuid, offline, first: 0, max: 10_000 }))
        ids.push(...page.map(({ session }) => session.id));
      return ids;
    };
    const expected = (offline: boolean) =>
      living.filter((n) => isOldOffline(n) === offline).map(oldSessionId);
    for (const offline of [false, true]) {
      const ids = await listed(offline, CLIENTS[0]);
      assert.deepEqual(ids.toSorted(), expected(offline).toSorted());
      const places = { clientUuid: CLIENTS[0], offline };
      const parts = [0, 60, 120].map((first) => store.listClientSessions({ ...places, first, max: 60 }));
      const inParts = (await Promise.all(parts)).flat();
      assert.deepEqual(
        inParts.map(({ session }) => session.id),
        ids.slice(0, 180),
      );
    }
    const counts = new Map((await store.countClientSessions('realm-1')).map((one) => [one.clientUuid, one]));
    assert.deepEqual(counts.get(CLIENTS[0]), {
      clientUuid: CLIENTS[0],
      online: expected(false).length,
      offline: expected(true).length,
    });

    const ofUser = (i: number, offline = false) =>
      living.filter((n) => n % USERS.length === i && isOldOffline(n) === offline);
    assert.deepEqual(await store.endUserSessions('user-3', { offlineToo: true }), {
      ended: ofUser(3).length,
    });
    assert.equal((await store.listUserSessions('user-5', false)).length, ofUser(5).length);
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'user', id: 'user-7' }]), {
      outcome: 'applied',
    });
    assert.deepEqual(await store.apply([{ do: 'endSessions', userId: 'user-8', offlineToo: false }]), {
      outcome: 'applied',
    });
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'client', id: CLIENTS[1] }]), {
      outcome: 'applied',
    });
    for (const n of living) if ([3, 7, 8].includes(n % USERS.length)) gone.add(n);
    assert.equal(await find(7), undefined);
    assert.equal(await find(70, 'g'), undefined);

    assert.ok((await unmoved()) > 0);
    await moveAll(store);
    assert.equal(await unmoved(), 0);
    for (const n of numbers(count)) {
      const family = await find(n);
      assert.equal(family !== undefined, !gone.has(n), `session ${n}`);
      assert.equal(await find(n, 'g'), undefined);
      if (family === undefined || n === 1) continue;
      assert.deepEqual(await rotate(store, n, oldHash(n, 'newest'), `next ${n}`), { outcome: 'rotated' });
      if (n % 5 === 0) {
        const again = await rotate(store, n, oldHash(n, 'newest'), 'thief');
        assert.equal(again.outcome, 'reused');
      }
    }
    await store.close();
  });

  test(`${database}: the realm's logout also ends sessions that are not moved yet`, {
    skip: skip ?? false,
  }, async (t) => {
    const { open } = await make(t, 60);
    const store = await open();
    assert.ok(await store.findSession(oldSessionId(0), false));
    assert.deepEqual(await store.endRealmSessions('realm-1'), { ended: 54 });
    await moveAll(store);
    for (const n of numbers(60))
      assert.equal(
        (await store.findSession(oldSessionId(n), isOldOffline(n))) !== undefined,
        isOldOffline(n),
      );
    await store.close();
  });
}

test('Postgres: two stores move the same sessions while clients refresh, and every session is in one place', {
  skip: missingPostgres() ?? false,
}, async (t) => {
  const count = 1_200;
  const server = await startPostgres(t);
  const { url, name } = await makeOnPostgres(t, server, count);
  const [one, other] = await Promise.all([
    openOn(t, server, url, { clock }),
    openOn(t, server, url, { clock }),
  ]);
  const moving = Promise.all([moveAll(one!), moveAll(other!)]);
  const results = await Promise.all(
    numbers(count)
      .reverse()
      .map(async (n) => {
        const store = n % 2 === 0 ? one! : other!;
        assert.ok(await (n % 2 === 0 ? other! : one!).findFamily(oldSessionId(n), oldFamilyId(n)), `${n}`);
        return rotate(store, n, oldHash(n, 'newest'), `next ${n}`);
      }),
  );
  for (const result of results) assert.deepEqual(result, { outcome: 'rotated' });
  await moving;
  const rows = await runSql(
    server,
    `SELECT (SELECT count(*) FROM user_session)::int AS sessions, (SELECT count(*) FROM token_family)::int AS families,
       (SELECT count(*) FROM user_session_0)::int AS unmoved`,
    name,
  );
  assert.deepEqual(rows, [{ sessions: count, families: count + Math.ceil(count / 7), unmoved: 0 }]);
  for (const n of numbers(count, (number) => number % 50 === 0))
    assert.deepEqual(
      (await one!.findFamily(oldSessionId(n), oldFamilyId(n)))?.family.currentHash,
      hash(`next ${n}`),
    );
});

test('Postgres: the migration waits until services of the older version have stopped', {
  skip: missingPostgres() ?? false,
}, async (t) => {
  const server = await startPostgres(t);
  const { url, name } = await makeOnPostgres(t, server, 10);
  const older = new Client({ ...connectionOf(server), database: name, application_name: 'idkit 0.1.0' });
  await older.connect();
  await older.query('SELECT pg_advisory_lock_shared($1, $2)', [...SERVICE_LOCK]);
  const opening = [1, 2].map(() => openOn(t, server, url, { clock }));
  const isWaiting = async () =>
    (
      await runSql(
        server,
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted`,
        name,
      )
    ).length > 0;
  await waitUntil('both stores wait', isWaiting);
  const unchanged = await runSql(server, 'SELECT version FROM idkit_schema', name);
  assert.deepEqual(unchanged, [{ version: 3 }]);
  await older.end();
  for (const store of await Promise.all(opening)) assert.ok(await store.findSession(oldSessionId(1), false));
});

test('SQLite: a dump of version 0.1.0, and one from the middle of the move, can be restored', async (t) => {
  const count = 1_200;
  const { store, file, masterKey: key, directory } = await newStore(t);
  await fill(store);
  const older = join(directory, 'older.db');
  makeFirstReleaseSqlite(file, older, old(count));
  const restore = async (name: string) => {
    const chunks: Buffer[] = [];
    await dumpSqlite(older, async (chunk) => void chunks.push(Buffer.from(chunk)));
    const inspector = createDumpInspector();
    for (const chunk of chunks) inspector.write(chunk);
    inspector.end();
    const side = join(directory, name);
    await loadSqlite(
      side,
      (async function* () {
        yield* chunks;
      })(),
    );
    await checkSqlite(side, key);
    return openStore({ file: side, masterKey: key, clock });
  };
  const check = async (restored: Store) => {
    await moveAll(restored);
    for (const n of numbers(count, (number) => number % 25 === 0))
      assert.deepEqual(await rotate(restored, n, oldHash(n, 'newest'), `next ${n}`), { outcome: 'rotated' });
    assert.equal(
      (await restored.listClientSessions({ clientUuid: CLIENTS[0], offline: true, first: 0, max: count }))
        .length,
      count / 10,
    );
    await restored.close();
  };
  await check(await restore('of-older.db'));
  const half = await openStore({ file: older, masterKey: key, clock });
  await half.continueBackgroundMigration();
  await half.close();
  await check(await restore('of-middle.db'));
});

test('Postgres: a dump of version 0.1.0, and one from the middle of the move, can be restored', {
  skip: missingPostgres() ?? false,
}, async (t) => {
  const count = 1_200;
  const server = await startPostgres(t);
  const { url, name } = await makeOnPostgres(t, server, count);
  const restore = async () => {
    const target = await makeDatabase(server);
    const environment = { ...process.env, PGPASSWORD: server.password };
    const place = ['--host=127.0.0.1', `--port=${server.port}`, `--username=${server.user}`];
    const options = { env: environment, maxBuffer: 1e9 };
    const dump = execFileSync(join(server.programs, 'pg_dump'), [...place, name], options);
    execFileSync(join(server.programs, 'psql'), [...place, '--set=ON_ERROR_STOP=1', '--quiet', target.name], {
      ...options,
      input: dump,
    });
    return openOn(t, server, target.url, { clock });
  };
  const check = async (restored: Store) => {
    await moveAll(restored);
    for (const n of numbers(count, (number) => number % 25 === 0))
      assert.deepEqual(await rotate(restored, n, oldHash(n, 'newest'), `next ${n}`), { outcome: 'rotated' });
  };
  await check(await restore());
  const half = await openOn(t, server, url, { clock });
  await half.continueBackgroundMigration();
  await half.close();
  await check(await restore());
});
