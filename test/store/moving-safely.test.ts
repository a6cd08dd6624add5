import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { createDumpInspector } from '../../src/backupset/index.ts';
import { SERVICE_LOCK } from '../../src/postgres/index.ts';
import type { Store } from '../../src/store/index.ts';
import { checkSqlite, dumpSqlite, loadSqlite, openStore } from '../../src/store/open.ts';
import { hash } from '../conformance/store/records.ts';
import { waitUntil } from '../wait-until.ts';
import { connectionOf, makeDatabase, openOn, runSql } from './databases.ts';
import { newStore } from './files.ts';
import { makeFirstReleaseSqlite, oldFamilyId, oldHash, oldSessionId } from './first-release.ts';
import {
  CLIENTS,
  clock,
  fill,
  makeOnPostgres,
  moveAll,
  numbers,
  old,
  onPostgres,
  onSqlite,
  rotate,
} from './old-databases.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

for (const [database, make, skip] of [
  ['SQLite', onSqlite, undefined],
  ['Postgres', onPostgres, missingPostgres()],
] as const)
  test(`${database}: nothing is lost or undone if the process is killed again and again while sessions move`, {
    skip: skip ?? false,
  }, async (t) => {
    const count = 2_500;
    const { open, unmoved, place, key } = await make(t, count);
    const program = fileURLToPath(new URL('./move-until-killed.ts', import.meta.url));
    const refreshed = new Set<number>();
    /** Sessions whose refresh was running when the process was killed. */
    const unsure = new Set<number>();
    let tried = 0;
    for (let kills = 0; tried < count; kills++) {
      const child = spawn(process.execPath, [program, JSON.stringify(place), String(tried), String(count)], {
        env: { ...process.env, IDKIT_MASTER_KEY: key.reveal() },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.after(() => child.kill('SIGKILL'));
      const closed = once(child, 'close');
      let lines = 0;
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        lines += part.split('\n').length - 1;
        if (kills < 5 && lines > 40 * (kills + 1)) child.kill('SIGKILL');
      });
      await closed;
      const written = text.slice(0, text.lastIndexOf('\n') + 1);
      for (const line of written.split('\n').slice(0, -1)) refreshed.add(Number(line));
      if (child.signalCode === null) assert.equal(child.exitCode, 0);
      else unsure.add(count - 1 - refreshed.size - unsure.size);
      tried = refreshed.size + unsure.size;
    }
    assert.equal(unsure.size, 5);
    const store = await open();
    await moveAll(store);
    assert.equal(await unmoved(), 0);
    const { userSessions, offlineSessions, tokenFamilies } = await store.figures();
    assert.deepEqual([userSessions + offlineSessions, tokenFamilies], [count, count + Math.ceil(count / 7)]);
    for (const n of numbers(count)) {
      const current = (await store.findFamily(oldSessionId(n), oldFamilyId(n)))!.family.currentHash;
      const isNew = current.equals(hash(`next ${n}`));
      assert.ok(isNew || (unsure.has(n) && current.equals(oldHash(n, 'newest'))), `session ${n}`);
      if (n % 7 === 0) assert.ok(await store.findFamily(oldSessionId(n), oldFamilyId(n, 'g')));
    }
    for (const n of numbers(count, (number) => number % 100 === 0 && !unsure.has(number)))
      assert.equal((await rotate(store, n, oldHash(n, 'newest'), 'thief')).outcome, 'reused');
    await store.close();
  });

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
