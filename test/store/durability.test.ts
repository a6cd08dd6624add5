import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../../src/core/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';
import { aFamily, aRealm, aSession, aUser, hash, START } from '../conformance/store/records.ts';
import { newDirectory, newMasterKey, newStore } from './files.ts';

/** Timeout in milliseconds for the load, which takes less than a second unless the machine is busy. */
const REFRESHING_MS = 60_000;

test('after kill -9 under refresh load, no confirmed rotation is lost and no token can be used twice', async (t) => {
  const { store, answered } = await refreshUntilKilled(t, 0);
  for (const [caller, use] of answered) {
    const id = `family-${caller}`;
    const { family } = (await store.findFamily(`session-${caller}`, id))!;
    // At most one rotation may be durable without having been reported.
    const stored = [use, use + 1].find((n) => family.currentHash.equals(hash(`${id} ${n}`)));
    assert.ok(stored !== undefined, `family ${caller} lost an answered rotation`);
    const again = await store.rotateRefreshToken(rotationOf(caller, use - 1, 'thief'));
    assert.equal(again.outcome, 'reused');
  }
  await store.close();
});

test('after kill -9, a client repeats a refresh without a response within the grace period', async (t) => {
  const { store, answered } = await refreshUntilKilled(t, 30);
  for (const [caller, use] of answered) {
    const grace = (to: string) => ({ grace: { seconds: 30, successor: Buffer.from(to) } });
    const result = await store.rotateRefreshToken({ ...rotationOf(caller, use, 'again'), ...grace('again') });
    // The killed process either did not rotate the token, or its successor can still be received.
    if (result.outcome === 'repeated') assert.equal(result.successor.toString(), String(use + 1));
    else assert.equal(result.outcome, 'rotated');
    const reused = await store.rotateRefreshToken({
      ...rotationOf(caller, use - 1, 'thief'),
      ...grace('thief'),
    });
    assert.equal(reused.outcome, 'reused');
  }
  await store.close();
});

/** Returns the rotation of the token number `use` of a caller in rotate-until-killed.ts, at the time of that use. */
function rotationOf(caller: string, use: number, next: string) {
  const id = `family-${caller}`;
  return {
    sessionId: `session-${caller}`,
    familyId: id,
    presentedHash: hash(`${id} ${use}`),
    nextHash: hash(next),
    now: START + use,
    singleUse: true,
    maxReuse: 0,
  };
}

/**
 * Kills a process that refreshes tokens, and opens its database. `answered` contains the number of completed rotations of
 * each caller.
 */
async function refreshUntilKilled(
  t: TestContext,
  graceSeconds: number,
): Promise<{ store: Store; answered: ReadonlyMap<string, number> }> {
  const file = join(await newDirectory(t), 'idkit.db');
  const masterKey = newMasterKey();
  const program = fileURLToPath(new URL('./rotate-until-killed.ts', import.meta.url));
  // The output is a file, which accepts every line immediately. A pipe with a slow reader rejects some (EAGAIN).
  const lines = await open(`${file}.answered`, 'a+');
  t.after(() => lines.close());
  const child = spawn(process.execPath, [program, file, masterKey.reveal(), String(graceSeconds)], {
    stdio: ['ignore', lines.fd, 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  const written = async () => (await lines.stat()).size;
  const late = performance.now() + REFRESHING_MS;
  while ((await written()) < 20_000 && child.exitCode === null && performance.now() < late) await pause(5);
  assert.equal(child.exitCode, null, `the refreshing process ended by itself after ${await written()} bytes`);
  assert.ok((await written()) >= 20_000, 'the refreshing process was not done in time');
  child.kill('SIGKILL');
  await closed;
  const output = await readFile(`${file}.answered`, 'utf8');
  const answered = new Map<string, number>();
  for (const line of output.slice(0, output.lastIndexOf('\n')).split('\n')) {
    const [caller, use] = line.split(' ');
    answered.set(caller!, Number(use));
  }
  assert.equal(answered.size, 16);
  return { store: await openStore({ file, masterKey }), answered };
}

test('a call that fails does not affect the other calls of its batch', async (t) => {
  const { store } = await newStore(t);
  await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', user: aUser({}) },
  ]);
  await store.startSession(aSession({}), aFamily({}));
  const answers = await Promise.allSettled([
    store.claimOnce('one', START),
    store.startSession(aSession({ id: 'new' }), aFamily({})),
    store.startSession(
      aSession({ id: 'orphan', userId: 'nobody' }),
      aFamily({ id: 'orphan', sessionId: 'orphan' }),
    ),
    store.claimOnce('two', START),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.equal(await store.findSession('new', false), undefined);
});

test('reports a full disk as IDKIT_NO_SPACE, rolls back the write, and resumes when there is space', async (t) => {
  const directory = await newDirectory(t);
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  if (mount.status !== 0) {
    if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') assert.fail('a small file system cannot be mounted');
    t.skip('needs the right to mount a small file system');
    return;
  }
  try {
    const file = join(directory, 'idkit.db');
    const store = await openStore({ file, masterKey: newMasterKey() });
    await store.apply([{ do: 'create', realm: aRealm({}) }]);
    const ballast = join(directory, 'ballast');
    const fault = await fillUp(store, ballast);
    assert.deepEqual(fault, { code: 'IDKIT_NO_SPACE' });
    assert.equal(await store.findUser('realm-1', 'too-much-0'), undefined);
    assert.equal((await store.findRealm('acme'))?.realm.id, 'realm-1');
    await rm(ballast);
    assert.deepEqual(await store.apply([{ do: 'create', user: aUser({}) }]), { outcome: 'applied' });
    assert.ok(await store.findUser('realm-1', 'user-1'));
    await store.close();
  } finally {
    spawnSync('umount', [directory]);
  }
});

/** Fills the disk, and returns the code of the error with which a large write then fails. */
async function fillUp(store: Store, ballast: string): Promise<unknown> {
  const handle = await open(ballast, 'w');
  try {
    for (let left = 100; left > 0; left--) await handle.write(Buffer.alloc(16 * 1024));
  } catch (error) {
    assert.equal(systemErrorCode(error), 'ENOSPC');
  } finally {
    await handle.close();
  }
  const users = Array.from({ length: 500 }, (_, i) => ({
    do: 'create' as const,
    user: aUser({ id: `too-much-${i}`, username: `too-much-${i}` }),
  }));
  const applied = store.apply(users);
  const other = store.claimOnce('key', START);
  const [first, second] = await Promise.allSettled([applied, other]);
  assert.equal(second.status, 'rejected');
  return first.status === 'rejected' ? { code: first.reason.code } : first.value;
}
