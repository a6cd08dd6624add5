import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';
import { runSql } from '../store/databases.ts';
import { newDirectory } from '../store/files.ts';
import { missingPostgres, ownerOfClusters, type PostgresServer } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * Returns why tests cannot start a pgbouncer in front of a Postgres server, or undefined if they can. Throws instead if
 * IDKIT_TEST_REQUIRE_ALL is set.
 */
export function missingPooler(): string | undefined {
  const missing = missingPostgres();
  if (missing !== undefined) return missing;
  if (spawnSync('pgbouncer', ['--version'], { env: withSbin() }).status === 0) return undefined;
  const why = 'pgbouncer is not installed (Debian package pgbouncer)';
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(why);
  return why;
}

function withSbin(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
}

/** A pgbouncer in front of one database. The addresses lead to the database and do not contain the password. */
export interface Pooler {
  port: number;
  url: string;
  /** The address of the pooler's Unix socket. */
  socketUrl: string;
  /** Opens a connection with the default settings. */
  openStranger(): Promise<Client>;
}

/** Starts a pgbouncer with its default configuration, except for its pool mode and the settings. */
export async function startPooler(
  t: TestContext,
  pg: PostgresServer,
  name: string,
  mode: string,
  settings = '',
): Promise<Pooler> {
  const dir = await newDirectory(t);
  chmodSync(dir, 0o755);
  const owner = ownerOfClusters();
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid);
  const port = await freePort();
  writeFileSync(join(dir, 'users'), `"postgres" "${pg.password}"\n`);
  const target = `host=127.0.0.1 port=${pg.port} dbname=${name} user=${pg.user} password=${pg.password}`;
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]\n${name} = ${target}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `auth_type = scram-sha-256\nauth_file = ${join(dir, 'users')}\npool_mode = ${mode}\nunix_socket_dir = ${dir}\n${settings}`,
  );
  const pooler = spawn('pgbouncer', ['-q', join(dir, 'pgbouncer.ini')], {
    ...owner,
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
  const { user, password } = pg;
  return {
    port,
    url: `postgres://${user}@127.0.0.1:${port}/${name}`,
    socketUrl: `postgres://${user}@/${name}?host=${dir}&port=${port}`,
    async openStranger() {
      const client = new Client({ host: '127.0.0.1', port, user, password, database: name });
      await client.connect();
      return client;
    },
  };
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

/** Makes the pooler open one connection to the server for each stranger. All of them are idle afterwards. */
export async function fillPool(strangers: readonly Client[]): Promise<void> {
  await readSettings(strangers);
}

/** Checks that no connection of a pooler has a lock or another setting than a new connection to the server. */
export async function checkNothingLeft(
  pg: PostgresServer,
  name: string,
  strangers: readonly Client[],
): Promise<void> {
  const locks = await runSql(
    pg,
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = '${name}')`,
  );
  assert.deepEqual(locks, [], 'no connection holds a lock');
  for (const changed of await readSettings(strangers)) assert.equal(changed, '');
}

/**
 * Returns the changed settings of as many connections of the pooler as there are strangers, without the settings that
 * pgbouncer itself sets for each client.
 */
async function readSettings(strangers: readonly Client[]): Promise<readonly string[]> {
  const sql = `SELECT pg_backend_pid() AS pid, (SELECT coalesce(string_agg(name || '=' || setting, ' '), '')
      FROM pg_settings WHERE source = 'session' AND name NOT IN
        ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')) AS changed,
    pg_sleep(0.2)`;
  let found: { pid: number; changed: string }[] = [];
  await waitUntil('each stranger has another connection', async () => {
    const results = await Promise.all(strangers.map((stranger) => stranger.query(sql)));
    found = results.map(({ rows }) => rows[0]);
    return new Set(found.map(({ pid }) => pid)).size === strangers.length;
  });
  return found.map(({ changed }) => changed);
}
