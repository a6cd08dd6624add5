import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import {
  findSystemUser,
  type RecoveredCluster,
  type RecoveryTarget,
  recoverCluster,
} from '../../../../src/pgtools/index.ts';
import { makeDirectory } from '../../../procedures/platform.ts';
import { runSql } from '../../../store/databases.ts';
import { missingPostgres, ownerOfClusters, startPostgres } from '../../../store/postgres-server.ts';
import { waitUntil } from '../../../wait-until.ts';
import { serverTime, write } from './archived.ts';

const skip = missingPostgres() ?? false;

function missingProgram(program: 'pgbackrest' | 'barman'): string | undefined {
  try {
    execFileSync(program, [program === 'barman' ? '--version' : 'version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(`${program} is not installed`);
    return `${program} is not installed (Debian package ${program})`;
  }
}

/** Returns the numbers in the table of a recovered cluster, and closes it. */
async function numbersIn(cluster: RecoveredCluster): Promise<readonly number[]> {
  try {
    const client = new Client({ host: cluster.socketDirectory, user: 'postgres', database: 'postgres' });
    await client.connect();
    const { rows } = await client.query<{ n: number }>('SELECT n FROM written ORDER BY n');
    await client.end();
    return rows.map(({ n }) => n);
  } finally {
    await cluster.close();
  }
}

test('a moment is recovered through pgBackRest, and a time before its first backup is not found', {
  skip: skip || (missingProgram('pgbackrest') ?? false),
}, async (t) => {
  const dir = await makeDirectory(t, 'pgbackrest');
  const owner = ownerOfClusters();
  await chmod(dir, 0o711);
  const config = join(dir, 'pgbackrest.conf');
  process.env['PGBACKREST_CONFIG'] = config;
  const archive = `PGBACKREST_CONFIG=${config} pgbackrest --stanza=main archive-push "%p"`;
  const server = await startPostgres(t, { settings: { archive_mode: 'on', archive_command: archive } });
  for (const name of ['repo', 'log', 'lock', 'spool']) {
    await mkdir(join(dir, name));
    if (owner !== undefined) await chown(join(dir, name), owner.uid, owner.gid);
  }
  const lines = [
    `[global]\nrepo1-path=${dir}/repo\nlog-path=${dir}/log\nlock-path=${dir}/lock\nspool-path=${dir}/spool\nstart-fast=y`,
    `[main]\npg1-path=${server.dir}/cluster\npg1-port=${server.port}\npg1-socket-path=${server.dir}\npg1-user=postgres\n`,
  ];
  await writeFile(config, lines.join('\n'));
  const run = (...args: string[]) =>
    execFileSync('pgbackrest', ['--stanza=main', ...args], {
      ...owner,
      cwd: '/',
      env: { PATH: process.env['PATH'], PGBACKREST_CONFIG: config, PGPASSWORD: server.password },
    });
  await runSql(server, 'CREATE TABLE written (n int)');
  run('stanza-create');
  run('backup', '--type=full');
  // The adapter reads the environment when it is loaded.
  const { openForeign, parseForeign } = await import('../../../../src/platform/postgres/archive/foreign.ts');
  const place = parseForeign('pgbackrest:main')!;
  await assert.rejects(openForeign(place, 1000), { code: 'IDKIT_NOT_FOUND' });
  // The time of a backup is a whole second.
  const ended = await serverTime(server);
  await waitUntil('the next second', async () => (await serverTime(server)) > ended + 1000);
  const first = await write(server, 1);
  await write(server, 2);
  await runSql(server, 'SELECT pg_switch_wal()');
  run('check');
  const source = await openForeign(place, await serverTime(server));
  const cluster = await recoverCluster(await makeDirectory(t, 'recovered'), source, {
    kind: 'time',
    time: first * 1000,
  });
  assert.deepEqual(await numbersIn(cluster), [1]);
});

test('moments are recovered through Barman, and a time before its first backup is not found', {
  skip: skip || (missingProgram('barman') ?? false),
}, async (t) => {
  const dir = await makeDirectory(t, 'barman');
  await chmod(dir, 0o711);
  const config = join(dir, 'barman.conf');
  process.env['BARMAN_CONFIG'] = config;
  const user = await findSystemUser('barman');
  const [home, incoming] = [join(dir, 'home'), join(dir, 'incoming')];
  for (const path of [home, incoming]) {
    await mkdir(path);
    if (user !== 'this user') await chown(path, user.uid, user.gid);
  }
  // The server puts its files there.
  await chmod(incoming, 0o777);
  const command = `cp "%p" "${incoming}/%f" && chmod 644 "${incoming}/%f"`;
  const server = await startPostgres(t, { settings: { archive_mode: 'on', archive_command: command } });
  const address = `host=127.0.0.1 port=${server.port} user=postgres password=${server.password}`;
  const lines = [
    `[barman]\nbarman_home=${home}\nbarman_lock_directory=${home}\nlog_file=${home}/log`,
    `[main]\ndescription=main\nconninfo=${address} dbname=postgres\nstreaming_conninfo=${address}`,
    `backup_method=postgres\narchiver=on\nincoming_wals_directory=${incoming}\n`,
  ];
  await writeFile(config, lines.join('\n'));
  const run = (...args: string[]) =>
    execFileSync('barman', ['-c', config, ...args], {
      ...(user === 'this user' ? {} : user),
      cwd: '/',
      env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    });
  const collect = async () => {
    await runSql(server, 'CHECKPOINT');
    const [row] = await runSql(server, 'SELECT pg_walfile_name(pg_switch_wal()) AS name');
    const name = String(row!['name']);
    await waitUntil('the server archives the file', async () => {
      const [last] = await runSql(server, 'SELECT last_archived_wal AS name FROM pg_stat_archiver');
      return String(last!['name']) >= name;
    });
    run('archive-wal', 'main');
  };
  await runSql(server, 'CREATE TABLE written (n int)');
  await collect();
  run('backup', 'main');
  const { listForeign, openForeign, parseForeign } = await import(
    '../../../../src/platform/postgres/archive/foreign.ts'
  );
  const place = parseForeign('barman:main')!;
  await assert.rejects(openForeign(place, 1000), { code: 'IDKIT_NOT_FOUND' });
  const ended = await serverTime(server);
  await waitUntil('the next second', async () => (await serverTime(server)) > ended + 1000);
  const first = await write(server, 1);
  await write(server, 2);
  await collect();
  const now = await serverTime(server);
  const recover = async (time: number, to: RecoveryTarget) =>
    numbersIn(
      await recoverCluster(await makeDirectory(t, 'recovered'), await openForeign(place, time, to), to),
    );
  assert.deepEqual(await recover(now, { kind: 'time', time: first * 1000 }), [1]);
  // An event is looked for in the newest moment, with the newest backup.
  const [newest] = (await listForeign(place)).slice(-1);
  assert.deepEqual(await recover(newest!.endedAt, { kind: 'newest' }), [1, 2]);
});
