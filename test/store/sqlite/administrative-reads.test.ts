import assert from 'node:assert/strict';
import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { forCaller, IdkitError } from '../../../src/core/index.ts';
import { ReaderProcesses } from '../../../src/store/sqlite/reader/reader-processes.ts';
import { aUser } from '../../conformance/store/records.ts';
import { begin, rotation } from '../../conformance/store/suite.ts';
import { waitUntil } from '../../wait-until.ts';
import { newStore } from '../files.ts';

// Checks that slow lists and searches of administrators do not delay other calls, and that they can be ended.

/** A statement that never ends by itself. */
const ENDLESS = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) AS n FROM c';
const SHORT = 'SELECT count(*) AS users FROM account';

async function newReaders(t: TestContext, milliseconds?: number): Promise<ReaderProcesses> {
  const { file } = await newStore(t);
  const readers = new ReaderProcesses(file, file, milliseconds);
  t.after(() => readers.close());
  return readers;
}

function childProcesses(of = process.pid): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(of)], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** Returns the processor time that a process has used, in hundredths of a second. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  return Number(fields[13]) + Number(fields[14]);
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !isZombie(pid);
}

/** Whether a process has ended, but its parent has not noticed it. */
function isZombie(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.startsWith('Z');
}

async function manyUsers(t: TestContext) {
  const { store } = await newStore(t);
  await begin(store);
  const users = Array.from({ length: 1_000 }, (_, i) => ({
    do: 'create' as const,
    user: aUser({ id: `u${i}`, username: `user-${i}`, attributes: { place: ['x'.repeat(2_000)] } }),
  }));
  await store.apply(users);
  return store;
}

test('twelve slow searches do not delay a refresh, or the lists that logins and tokens need', async (t) => {
  const store = await manyUsers(t);
  let ended = 0;
  const searches = Array.from({ length: 12 }, async () => {
    await store.countUsers({ realmId: 'realm-1', attributes: { place: 'y' } });
    ended++;
  });
  assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'rotated' });
  assert.equal((await store.listUserSessions('user-1', false)).length, 1);
  assert.ok(ended < 12, 'the refresh and the list returned before the searches');
  await Promise.all(searches);
});

test('rejects a search if too many searches are waiting, and counts it', async (t) => {
  const { store } = await newStore(t);
  await begin(store);
  const searches = Array.from({ length: 67 }, () => store.countUsers({ realmId: 'realm-1', search: 'a' }));
  const outcomes = await Promise.allSettled(searches);
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, 1);
  assert.equal((refused[0] as PromiseRejectedResult).reason.code, 'IDKIT_UNREACHABLE');
  const { inUse, waiting, refused: counted } = store.lanes()['reads']!;
  assert.deepEqual([inUse, waiting, counted], [0, 0, 1]);
});

test('ends the statement of a caller who disconnects, but at most one in a second, and reads meanwhile', async (t) => {
  const readers = await newReaders(t);
  await readers.all(SHORT, []);
  const before = childProcesses();
  const gone = new IdkitError('IDKIT_UNREACHABLE', 'gone');
  const signals = [new AbortController(), new AbortController(), new AbortController()];
  const running = signals.map(({ signal }) => readers.all(ENDLESS, [], signal));
  const ended: number[] = [];
  const since = performance.now();
  for (const one of running)
    void one.catch((error: unknown) => {
      assert.equal(error, gone);
      ended.push(performance.now() - since);
    });
  const processes = childProcesses();
  assert.equal(processes.length, before.length + 2);
  for (const one of signals) one.abort(gone);
  assert.deepEqual(await readers.all(SHORT, []), [{ users: 0 }]);
  await Promise.allSettled(running);
  assert.ok(ended[1]! > 1_000 && ended[2]! > 2_000, `${ended}`);
  assert.deepEqual(await readers.all(SHORT, []), [{ users: 0 }]);
});

test('a process has a low priority from its start', async (t) => {
  const readers = await newReaders(t);
  const before = childProcesses();
  const read = readers.all(SHORT, []);
  for (const pid of childProcesses())
    if (!before.includes(pid)) assert.equal(getPriority(pid), Math.max(15, getPriority()));
  await read;
});

test('a process keeps the priority of a service that was started with a lower one', {
  skip: process.platform !== 'linux' && 'needs nice and pgrep of Linux',
}, async (t) => {
  const { file } = await newStore(t);
  const script = `
    import { spawnSync } from 'node:child_process';
    import { getPriority } from 'node:os';
    import { ReaderProcesses } from '${import.meta.resolve('../../../src/store/sqlite/reader/reader-processes.ts')}';
    const readers = new ReaderProcesses('${file}', '${file}');
    const read = readers.all('${SHORT}', []);
    const [pid] = spawnSync('pgrep', ['-P', String(process.pid), 'node'], { encoding: 'utf8' }).stdout.split('\\n');
    console.log(getPriority(Number(pid)), JSON.stringify(await read));
    readers.close();`;
  const { stdout, stderr } = spawnSync(
    'nice',
    ['-n', '19', process.execPath, '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  assert.equal(stdout, '19 [{"users":0}]\n', stderr);
});

test('a process ends in the middle of its statement if its parent is killed', async (t) => {
  const { file } = await newStore(t);
  const script = `
    import { ReaderProcesses } from '${import.meta.resolve('../../../src/store/sqlite/reader/reader-processes.ts')}';
    const readers = new ReaderProcesses('${file}', '${file}', 3_600_000);
    await readers.all('${SHORT}', []);
    console.log('ready');
    await readers.all('${ENDLESS}', []);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => parent.kill('SIGKILL'));
  await once(parent.stdout, 'data');
  const [child, ...others] = childProcesses(parent.pid);
  assert.deepEqual(others, []);
  // The statement runs as soon as it uses a processor.
  const begun = processorTime(child!);
  await waitUntil('the statement runs', () => processorTime(child!) >= begun + 10);
  parent.kill('SIGKILL');
  await waitUntil('the process has ended', () => !isRunning(child!), { seconds: 5 });
});

test('a process ends a statement that takes too long even if its parent hangs', async (t) => {
  const { file } = await newStore(t);
  const [main, thread] = ['process', 'thread'].map((name) =>
    fileURLToPath(import.meta.resolve(`../../../src/store/sqlite/reader/reader-${name}.ts`)),
  );
  const child = fork(main!, [thread!, file, file, '200'], { serialization: 'advanced', execArgv: [] });
  t.after(() => child.kill('SIGKILL'));
  child.send({ id: 1, sql: ENDLESS, values: [] });
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
});

test('reports a process that cannot start with IDKIT_UNREACHABLE', async (t) => {
  // The system rejects an argument of this length, as it does if it has no memory.
  const tooLong = new ReaderProcesses('x'.repeat(200_000), 'x');
  await assert.rejects(tooLong.all(SHORT, []), { code: 'IDKIT_UNREACHABLE', message: /did not start/ });
  const { file } = await newStore(t);
  const script = `
    import { openSync } from 'node:fs';
    import { ReaderProcesses } from '${import.meta.resolve('../../../src/store/sqlite/reader/reader-processes.ts')}';
    const readers = new ReaderProcesses('${file}', '${file}');
    try { for (;;) openSync('/dev/null'); } catch {}
    const error = await readers.all('${SHORT}', []).catch((error) => error);
    process.stdout.write(error.code + ' ' + error.message);
    await readers.close();`;
  const { stdout } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  assert.match(stdout, /^IDKIT_UNREACHABLE .*did not start$/);
});

test('runs no statement of a caller who has disconnected, and keeps a process whose statement was short', async (t) => {
  const readers = await newReaders(t);
  const gone = new AbortController();
  const read = readers.all(SHORT, [], gone.signal);
  await read;
  gone.abort();
  await assert.rejects(readers.all(SHORT, [], gone.signal), { name: 'AbortError' });
  assert.deepEqual(await readers.all(SHORT, []), [{ users: 0 }]);
});

test('ends a statement that takes too long with IDKIT_UNREACHABLE', async (t) => {
  const readers = await newReaders(t, 200);
  await assert.rejects(readers.all(ENDLESS, []), { code: 'IDKIT_UNREACHABLE', message: /longer than 0.2 s/ });
});

test('reads in another process if the idle one was killed', async (t) => {
  const readers = await newReaders(t);
  const before = childProcesses();
  await readers.all(SHORT, []);
  const started = childProcesses().filter((pid) => !before.includes(pid));
  assert.equal(started.length, 1);
  process.kill(started[0]!, 'SIGKILL');
  // This loop holds the event loop, so that the readers do not learn yet that the process has ended.
  while (!isZombie(started[0]!));
  assert.deepEqual(await readers.all(SHORT, []), [{ users: 0 }]);
});

test('rejects a statement whose process is killed', async (t) => {
  const readers = await newReaders(t);
  const before = childProcesses();
  const running = assert.rejects(readers.all(ENDLESS, []), { code: 'IDKIT_UNREACHABLE', message: /ended/ });
  for (const pid of childProcesses()) if (!before.includes(pid)) process.kill(pid, 'SIGKILL');
  await running;
});

test('closes although a statement never ends, and rejects the statement', async (t) => {
  const readers = await newReaders(t);
  await readers.all(SHORT, []);
  const running = assert.rejects(readers.all(ENDLESS, []), { code: 'IDKIT_FAILED' });
  await readers.close();
  await running;
  await assert.rejects(readers.all(SHORT, []), { code: 'IDKIT_FAILED' });
});

test('reports a faulty statement, and runs the next one', async (t) => {
  const readers = await newReaders(t);
  await assert.rejects(readers.all('SELECT * FROM missing', []), /no such table/);
  assert.deepEqual(await readers.all(SHORT, []), [{ users: 0 }]);
});

test('removes a waiting search from the queue if its caller disconnects', async (t) => {
  const store = await manyUsers(t);
  const slow = () => store.countUsers({ realmId: 'realm-1', attributes: { place: 'y' } });
  const running = Array.from({ length: 4 }, slow);
  const gone = new AbortController();
  const queued = forCaller(gone.signal, slow);
  gone.abort(new IdkitError('IDKIT_UNREACHABLE', 'gone'));
  await assert.rejects(queued, { message: 'gone' });
  await Promise.all(running);
});
