import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { acquireLock, readLockHolder } from '../../src/config/index.ts';

async function lockPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idkit-lock-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'serve.lock');
}

test('a second process cannot acquire an exclusive lock, and its error names the holder', async (t) => {
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

test('several holders can share a lock, and exclude an exclusive holder', async (t) => {
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

test('the error for an exclusive lock names every living shared holder', async (t) => {
  const path = await lockPath(t);
  const share = (command: string) => acquireLock(path, { mode: 'shared', record: { command } });
  const refusal = async (): Promise<string> => {
    const taken = acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } });
    return taken.then(
      () => assert.fail('it is shared'),
      (error: Error) => error.message,
    );
  };
  const [first, second] = [await share('first'), await share('second')];
  const both = await refusal();
  for (const command of ['first', 'second']) {
    assert.ok(both.includes(`held by ${command}, `) || both.includes(`and by ${command}, `), both);
  }
  await second.release();
  assert.match(await refusal(), new RegExp(`held by first, process ${process.pid} on [^ ]+ since [^ ]+$`));
  const third = await share('third');
  await first.release();
  assert.match(await refusal(), /held by third, process [^,]+$/);
  await third.release();
  await (await acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } })).release();
  assert.deepEqual(await readdir(dirname(path)), ['serve.lock'], 'no record is left');
});

test('ignores the record of a killed shared holder, and the next holder removes it', async (t) => {
  const path = await lockPath(t);
  const left = `${path}.00000000-0000-4000-8000-000000000000.json`;
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  const record = { pid: gone, host: hostname(), command: 'verify', startedAt: 'then', owner: 'x' };
  await writeFile(left, JSON.stringify(record));
  const lock = await acquireLock(path, { mode: 'shared', record: { command: 'drill' } });
  await assert.rejects(acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } }), {
    message: /held by drill, process [^,]+$/,
  });
  assert.ok(!(await readdir(dirname(path))).includes(basename(left)), 'gone with a shared one');
  await lock.release();
  await writeFile(left, JSON.stringify(record));
  await (await acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } })).release();
  assert.deepEqual(await readdir(dirname(path)), ['serve.lock'], 'gone with an exclusive one');
});

test('the record of a killed exclusive holder does not hide a later shared holder', async (t) => {
  const path = await lockPath(t);
  await writeFile(
    `${path}.json`,
    JSON.stringify({ pid: 1, host: 'x', command: 'backup', startedAt: 'then' }),
  );
  const lock = await acquireLock(path, { mode: 'shared', record: { command: 'verify' } });
  await assert.rejects(acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } }), {
    message: /held by verify, /,
  });
  await lock.release();
});

test('kill -9 of the holder releases the lock, and idkit ignores the record that the holder left', async (t) => {
  const path = await lockPath(t);
  const program = `
    const { acquireLock } = await import(${JSON.stringify(new URL('../../src/config/lock/lock.ts', import.meta.url).href)});
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

test('reports a directory that does not exist as IDKIT_DIRECTORY_NOT_WRITABLE', async (t) => {
  const path = join(await lockPath(t), 'nowhere', 'lock');
  await assert.rejects(acquireLock(path, { mode: 'exclusive', record: { command: 'backup' } }), {
    code: 'IDKIT_DIRECTORY_NOT_WRITABLE',
  });
});
