import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { recoverCluster } from '../../src/pgtools/index.ts';
import { serverTime, write } from '../platform/postgres/archive/archived.ts';
import { missingProgram, numbersIn } from '../platform/postgres/archive/foreign-programs.ts';
import { makeDirectory } from '../procedures/platform.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, ownerOfClusters, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres() ?? false;

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
  const { openForeign, parseForeign } = await import('../../src/platform/postgres/archive/foreign.ts');
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
