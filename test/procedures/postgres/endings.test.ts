import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { backup, restore } from '../../../src/procedures/index.ts';
import { startService } from '../../../src/service/index.ts';
import { connectionOf } from '../../store/databases.ts';
import { waitUntil } from '../../wait-until.ts';
import { PASSPHRASE, restoreOptions } from '../platform.ts';
import { describeOnPostgres } from '../postgres-platform.ts';

/** Returns a port whose listener never accepts a connection and has a full queue, so the kernel drops every packet. */
async function startBlackHole(t: TestContext): Promise<number> {
  const script = `const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, server.address().port + '\\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const waiting: Socket[] = [];
  t.after(() => {
    child.kill('SIGKILL');
    for (const socket of waiting) socket.destroy();
  });
  for (let taken = true; taken; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    waiting.push(socket);
    taken = await Promise.race([once(socket, 'connect').then(() => true), sleep(500).then(() => false)]);
    assert.ok(waiting.length < 20, 'the queue of the listener has an end');
  }
  return port;
}

describeOnPostgres('how work on a postgres:// database ends', (platforms) => {
  it('pg_dump and psql end if the backup that started them is killed (SIGKILL)', async (t) => {
    const { dir } = await platforms.fresh(t);
    const locker = new Client({ ...connectionOf(platforms.server), database: 'idkit' });
    await locker.connect();
    t.after(() => locker.end());
    await locker.query('BEGIN; LOCK TABLE admin_event');
    const child = spawn(process.execPath, [join(import.meta.dirname, '../run-procedure.ts'), 'backup', dir], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env['PATH'] },
    });
    child.stdin.end(PASSPHRASE.reveal());
    const listPrograms = () =>
      execFileSync('ps', ['-eo', 'pid=,ppid=,comm='], { encoding: 'utf8' })
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, parent, name]) => parent === String(child.pid) && /^(psql|pg_dump)$/.test(name!))
        .map(([pid]) => Number(pid));
    await waitUntil('pg_dump waits for the lock', () => listPrograms().length === 2);
    const programs = listPrograms();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const isThere = (pid: number) => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    };
    await waitUntil('both have ended', () => !programs.some(isThere), { seconds: 20 });
  });

  it('commands and serve give up after connect_timeout if the primary drops every packet (exit code 15)', async (t) => {
    const platform = await platforms.fresh(t);
    const yaml = join(platform.dir, 'idkit.yaml');
    const port = await startBlackHole(t);
    await writeFile(yaml, `database: postgres://idkit@127.0.0.1:${port}/idkit?connect_timeout=1\n`);
    const settings = await platform.load();
    for (const [name, work] of Object.entries({
      serve: () => startService(settings),
      backup: () => backup(settings, restoreOptions()),
      restore: () => restore(settings, restoreOptions({ from: platform.set })),
    })) {
      const began = performance.now();
      await assert.rejects(work(), { code: 'IDKIT_UNREACHABLE', exitCode: 15 }, name);
      const seconds = (performance.now() - began) / 1000;
      assert.ok(seconds < 20, `${name} gives up within seconds, not after the kernel's minutes: ${seconds}`);
    }
    const hosts = `127.0.0.1:${port},127.0.0.1:${platforms.server.port}`;
    await writeFile(yaml, `database: postgres://idkit@${hosts}/idkit?connect_timeout=1\n`);
    assert.deepEqual((await backup(await platform.load(), restoreOptions())).findings, []);
  });

  it('a restore with findings (exit code 3) leaves only what --abort needs, until the next good backup', async (t) => {
    const platform = await platforms.fresh(t);
    const env = join(platform.dir, '.env');
    const text = await readFile(env, 'utf8');
    await writeFile(env, text.replace(/^IDKIT_SMOKE_CLIENT_SECRET=.*$/m, 'IDKIT_SMOKE_CLIENT_SECRET=wrong'));
    const result = await restore(
      await platform.load(),
      restoreOptions({ from: platform.set, keepEnv: true }),
    );
    assert.notDeepEqual(result.findings, []);
    const listLeft = async () =>
      (await readdir(platform.dir, { recursive: true })).filter((path) => /\.pre-|restore-/.test(path));
    const kept = [`config.pre-${result.id}`, `data/restore-${result.id}.json`];
    assert.deepEqual(
      (await listLeft()).filter((path) => !kept.some((one) => path.startsWith(one))),
      [],
    );
    assert.deepEqual(await platform.databases(), ['idkit', `idkit_pre_${result.id}`]);
    await waitUntil('no client is left', async () => (await platform.clients()).length === 0);
    await (await startService(await platform.load())).close();
    assert.deepEqual((await backup(await platform.load(), restoreOptions())).findings, []);
    assert.deepEqual(await listLeft(), []);
    assert.deepEqual(await platform.databases(), ['idkit']);
  });
});
