import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { aRealm, aRole } from '../conformance/store/records.ts';
import { freePort } from '../free-port.ts';
import { makeDatabase, openOn, runSql } from '../store/databases.ts';
import { newDirectory } from '../store/files.ts';
import {
  missingPostgres,
  ownerOfClusters,
  type PostgresServer,
  startPostgres,
} from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

// These tests use a real pgbouncer with its default configuration, except for its pool mode.

const missing = missingPostgres() ?? missingPooler();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const skip = missing ?? false;

function missingPooler(): string | undefined {
  if (spawnSync('pgbouncer', ['--version'], { env: withSbin() }).status === 0) return undefined;
  const why = 'pgbouncer is not installed (Debian package pgbouncer)';
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(why);
  return why;
}

function withSbin(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
}

/**
 * Starts a pooler in front of a database.
 *
 * @returns the address of the database through the pooler, without a password
 */
async function startPooler(
  t: TestContext,
  pg: PostgresServer,
  name: string,
  mode: string,
  settings = '',
): Promise<string> {
  const dir = await newDirectory(t);
  chmodSync(dir, 0o755);
  const port = await freePort();
  writeFileSync(join(dir, 'users'), `"postgres" "${pg.password}"\n`);
  const target = `host=127.0.0.1 port=${pg.port} dbname=${name} user=${pg.user} password=${pg.password}`;
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]\n${name} = ${target}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `auth_type = scram-sha-256\nauth_file = ${join(dir, 'users')}\npool_mode = ${mode}\nunix_socket_dir =\n${settings}`,
  );
  const pooler = spawn('pgbouncer', ['-q', join(dir, 'pgbouncer.ini')], {
    ...ownerOfClusters(),
    env: withSbin(),
    stdio: 'ignore',
  });
  const ended = once(pooler, 'exit');
  t.after(async () => {
    pooler.kill('SIGKILL');
    await ended;
  });
  await waitUntil('pgbouncer accepts', () => {
    assert.equal(pooler.exitCode, null, 'pgbouncer runs');
    return accepts(port);
  });
  return `postgres://${pg.user}@127.0.0.1:${port}/${name}`;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('close', () => socket.destroy());
    socket.on('connect', () => socket.end());
  });
}

test('locks and notifications work through a pooler in session mode', {
  skip,
}, async (t) => {
  const { name } = await makeDatabase(server!);
  const url = await startPooler(t, server!, name, 'session');
  const [store, other] = [await openOn(t, server!, url), await openOn(t, server!, url)];
  await store.apply([{ do: 'create', realm: aRealm({}) }]);
  assert.equal((await other.findRealm('acme'))!.roles.size, 0);
  const end = await store.takeTurn('a turn');
  await store.apply([{ do: 'create', role: aRole({}) }]);
  await waitUntil('the role is seen', async () => (await other.findRealm('acme'))!.roles.size > 0);
  await end();
  const [locks] = await runSql(
    server!,
    `SELECT count(DISTINCT pid) > 2 AS each FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'`,
  );
  assert.deepEqual(locks, { each: true }, 'each connection holds the service lock');
});

/** Opens a plain connection through a pooler. */
async function openStranger(url: string): Promise<Client> {
  const { username: user, port, pathname } = new URL(url);
  const database = pathname.slice(1);
  const client = new Client({
    host: '127.0.0.1',
    port: Number(port),
    user,
    database,
    password: server!.password,
  });
  await client.connect();
  return client;
}

const OTHER_MODES = [
  { mode: 'transaction', settings: '' },
  { mode: 'transaction', settings: 'server_round_robin = 1\n' },
  { mode: 'statement', settings: '' },
];

for (const { mode, settings } of OTHER_MODES)
  test(`always rejects a pooler in ${mode} mode (${settings.trim() || 'defaults'}), and leaves nothing on its connections`, {
    skip,
  }, async (t) => {
    const { name } = await makeDatabase(server!);
    const url = await startPooler(t, server!, name, mode, settings);
    const strangers = await Promise.all([1, 2, 3].map(() => openStranger(url)));
    let working = true;
    const work = strangers.map(async (stranger) => {
      while (working) await stranger.query('SELECT pg_sleep(0.001)');
    });
    for (let attempt = 0; attempt < 12; attempt++) {
      // In the second half of the attempts, the pooler has no other clients.
      if (attempt === 6) {
        working = false;
        await Promise.all(work);
      }
      await assert.rejects(openOn(t, server!, url), (error: Error & { code: string; hints: string[] }) => {
        assert.equal(error.code, 'IDKIT_SETTING');
        assert.match(error.message, /share connections of the server/);
        assert.match(error.hints.join(), /pool_mode = session/);
        return true;
      });
    }
    const [left] = await runSql(
      server!,
      `SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = '${name}')`,
    );
    assert.deepEqual(left, { locks: 0 });
    for (const stranger of strangers)
      assert.deepEqual((await stranger.query('SHOW statement_timeout')).rows, [{ statement_timeout: '0' }]);
    const tables = await runSql(server!, `SELECT relname FROM pg_class WHERE relname = 'idkit_schema'`, name);
    assert.deepEqual(tables, [], 'the database is still empty');
    await Promise.all(strangers.map((stranger) => stranger.end()));
  });
