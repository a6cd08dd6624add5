import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { acquireLock, readLockHolder } from '../../src/config/index.ts';

async function lockPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idkit-lock-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'serve.lock');
}

test('an exclusive lock refuses a second one and names the holder (contract §3, Locks)', async (t) => {
  const path = await lockPath(t);
  const lock = await acquireLock(path, { mode: 'exclusive', record: { command: 'serve' } });
  await lock.note({ baseUrl: 'http://127.0.0.1:8080' });
  await assert.rejects(acquireLock(path, { mode: 'exclusive', record: { command: 'serve' } }), {
    code: 'IDKIT_LOCKED',
    message: new RegExp(`held by serve, process ${process.pid} on `),
  });
  await assert.rejects(acquireLock(path, { mode: 'shared', record: { command: 'verify' } }), {
    code: 'IDKIT_LOCKED',
  });
  const holder = await readLockHolder(path);
  assert.equal(holder?.pid, process.pid);
  assert.equal(holder.baseUrl, 'http://127.0.0.1:8080');
  await lock.release();
  await lock.release();
  assert.equal(await readLockHolder(path), undefined);
  await (await acquireLock(path, { mode: 'exclusive', record: { command: 'serve' } })).release();
});

test('shared locks exist beside each other and exclude an exclusive one', async (t) => {
  const path = await lockPath(t);
  const one = await acquireLock(path, { mode: 'shared', record: { command: 'verify' } });
  const two = await acquireLock(path, { mode: 'shared', record: { command: 'verify' } });
  const exclusive = () => acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } });
  await assert.rejects(exclusive(), { code: 'IDKIT_LOCKED', message: /verify/ });
  await one.release();
  await assert.rejects(exclusive(), { code: 'IDKIT_LOCKED' });
  await two.release();
  await (await exclusive()).release();
});

test('kill -9 of the holder frees the lock, and its record is not believed', async (t) => {
  const path = await lockPath(t);
  const program = `
    const { acquireLock } = await import(${JSON.stringify(new URL('../../src/config/lock.ts', import.meta.url).href)});
    await acquireLock(${JSON.stringify(path)}, { mode: 'exclusive', record: { command: 'serve' } });
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.equal((await readLockHolder(path))?.pid, child.pid);
  await assert.rejects(acquireLock(path, { mode: 'exclusive', record: { command: 'restore' } }), {
    code: 'IDKIT_LOCKED',
    message: new RegExp(`serve, process ${child.pid} `),
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(await readLockHolder(path), undefined);
  await (await acquireLock(path, { mode: 'exclusive', record: { command: 'restore' } })).release();
});

test('a directory that does not exist is IDKIT_DIRECTORY_NOT_WRITABLE', async (t) => {
  const path = join(await lockPath(t), 'nowhere', 'lock');
  await assert.rejects(acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } }), {
    code: 'IDKIT_DIRECTORY_NOT_WRITABLE',
  });
});
