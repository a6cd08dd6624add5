import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSweeper } from '../../src/service/sweeper.ts';
import type { Store } from '../../src/store/index.ts';
import { aFamily, aRealm, aSession, START } from '../conformance/store/records.ts';
import { begin } from '../conformance/store/suite.ts';
import { applyAsRead } from '../store/as-read.ts';
import { makeDatabase, openOn } from '../store/databases.ts';
import { newStore } from '../store/files.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const SESSIONS = 1600;
const LATER = START + 7200;
const clock = { now: () => LATER * 1000 };

const openers: Readonly<Record<string, (t: TestContext) => Promise<Store>>> = {
  sqlite: async (t) => (await newStore(t, { clock })).store,
  postgres: async (t) => {
    const server = await startPostgres({ after });
    return openOn(t, server, (await makeDatabase(server)).url, { clock });
  },
};

for (const [name, open] of Object.entries(openers)) {
  const skip = name === 'postgres' && (missingPostgres() ?? false);

  test(`${name}: one sweep removes all expired records, even if each batch contains live sessions`, {
    skip,
  }, async (t) => {
    const store = await open(t);
    await begin(store);
    const isAlive = (i: number) => i % 40 === 0;
    await Promise.all(
      Array.from({ length: SESSIONS }, async (_, i) => {
        const used = isAlive(i) ? LATER - 60 : START;
        const id = `s${i}`;
        await store.startSession(
          aSession({ id, lastAccessAt: used }),
          aFamily({ id, sessionId: id, lastRefreshAt: used }),
        );
      }),
    );
    const slices: { handled: number; more: boolean }[] = [];
    const counted: Pick<Store, 'sweep' | 'sweepEvents' | 'clock' | 'sliceMilliseconds' | 'smallestSlice'> = {
      clock: store.clock,
      sliceMilliseconds: store.sliceMilliseconds,
      // Smaller than that of Postgres, so that these sessions need many slices.
      smallestSlice: 100,
      sweep: async (now, limit) => {
        const swept = await store.sweep(now, limit);
        slices.push(swept);
        return swept;
      },
      sweepEvents: (now, limit) => store.sweepEvents(now, limit),
    };
    const faults: unknown[] = [];
    const log = { error: (fault: unknown) => void faults.push(fault) };
    // The second sweep would start after the end of this test, so the first one must remove everything.
    const sweeper = startSweeper(counted, log as never, () => (slices.length > 0 ? 600_000 : 1));
    const isSwept = () => slices.some(({ more }) => !more);
    await waitUntil('the sweep ends', isSwept, { every: 5, seen: () => `${slices.length} slices` });
    sweeper.stop();
    assert.deepEqual(faults, []);
    assert.equal((await store.figures()).userSessions, SESSIONS / 40);
    assert.ok(await store.findSession('s0', false), 'a living one stays');
    assert.equal(
      slices.reduce((sum, { handled }) => sum + handled, 0),
      SESSIONS + 1,
      'each session once, with the one of the beginning',
    );
    assert.ok(slices.length > 3, 'in small slices');
    assert.deepEqual(await store.sweep(LATER, 100), { removed: 0, handled: 0, more: false });
  });

  test(`${name}: old events are removed while expired sessions are left`, { skip }, async (t) => {
    const store = await open(t);
    await begin(store);
    const { settings } = aRealm({});
    await applyAsRead(store, [
      { do: 'put', realm: aRealm({ settings: { ...settings, eventsExpiration: 60 } }) },
    ]);
    const event = { id: '1', time: START * 1000, type: 'LOGIN', realmId: 'realm-1', details: {} };
    await store.appendEvents([event]);
    let calls = 0;
    const backlog: Pick<Store, 'sweep' | 'sweepEvents' | 'clock' | 'sliceMilliseconds' | 'smallestSlice'> = {
      clock: store.clock,
      sliceMilliseconds: store.sliceMilliseconds,
      smallestSlice: store.smallestSlice,
      sweep: async () => {
        calls++;
        return { removed: 1, handled: 1, more: true };
      },
      sweepEvents: (now, limit) => store.sweepEvents(now, limit),
    };
    const sweeper = startSweeper(backlog, { error: (_, message) => assert.fail(message) }, () => 1);
    const seen = () => store.listEvents({ realmId: 'realm-1', first: 0, max: 10 });
    await waitUntil('the event is removed', async () => (await seen()).length === 0);
    sweeper.stop();
    assert.ok(calls > 0);
  });
}

test('stops without waiting for a slice, and does not log that closing the store ends it', async () => {
  const begun: ((error: Error) => void)[] = [];
  const slice = () => new Promise<never>((_, reject) => begun.push(reject));
  const store = {
    clock,
    sliceMilliseconds: 3,
    smallestSlice: 100,
    sweep: slice,
    sweepEvents: slice,
  };
  const sweeper = startSweeper(store, { error: (_, message) => assert.fail(message) }, () => 1);
  await waitUntil('both slices run', () => begun.length === 2);
  sweeper.stop();
  for (const end of begun) end(new Error('the database is closed'));
  await sleep(20);
  assert.equal(begun.length, 2, 'no slice follows');
});

test('each sweep reports once that other work has failed, and continues', async () => {
  const faults: unknown[] = [];
  let calls = 0;
  const failing = {
    clock: { now: () => START * 1000 },
    sliceMilliseconds: 3,
    smallestSlice: 100,
    sweep: async () => ({ removed: 0, handled: 0, more: false }),
    sweepEvents: async () => ({
      removed: 1,
      handled: 1,
      more: ++calls % 5 !== 0,
      fault: new Error(`${calls}`),
    }),
  };
  const log = { error: ({ err }: { err: Error }) => void faults.push(err.message) };
  const sweeper = startSweeper(failing, log as never, () => (calls < 10 ? 1 : 600_000));
  await waitUntil('two sweeps end', () => calls === 10, { every: 5 });
  sweeper.stop();
  assert.deepEqual(faults, ['1', '6']);
});

test('a slice never has fewer records than the smallest of the store, however slow it is', async () => {
  const limits: number[] = [];
  const slow = {
    clock: { now: () => 0 },
    sliceMilliseconds: 1,
    smallestSlice: 700,
    sweep: async (_now: number, limit: number) => {
      limits.push(limit);
      await sleep(5);
      return { removed: limit, handled: limit, more: true };
    },
    sweepEvents: async () => ({ removed: 0, handled: 0, more: false }),
  };
  const sweeper = startSweeper(slow as never, { error: (_, message) => assert.fail(message) }, () => 1);
  await waitUntil('some slices end', () => limits.length >= 5);
  sweeper.stop();
  assert.deepEqual([...new Set(limits)], [700]);
});
