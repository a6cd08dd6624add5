import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findSystemUser, type RecoveryTarget, recoverCluster } from '../../src/pgtools/index.ts';
import { serverTime, write } from '../platform/postgres/archive/archived.ts';
import { missingProgram, numbersIn } from '../platform/postgres/archive/foreign-programs.ts';
import { makeDirectory } from '../procedures/platform.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres() ?? false;

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
    '../../src/platform/postgres/archive/foreign.ts'
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
