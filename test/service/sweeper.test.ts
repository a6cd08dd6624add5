import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { startSweeper } from '../../src/service/sweeper.ts';
import type { Store } from '../../src/store/index.ts';
import { aFamily, aSession, START } from '../conformance/store/records.ts';
import { begin } from '../conformance/store/suite.ts';
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

for (const [name, open] of Object.entries(openers))
  test(`${name}: one sweep removes all expired records, even if each batch contains live sessions`, {
    skip: name === 'postgres' && (missingPostgres() ?? false),
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
    const slices: { limit: number; handled: number }[] = [];
    const counted: Pick<Store, 'sweep' | 'clock' | 'sliceMilliseconds'> = {
      clock: store.clock,
      sliceMilliseconds: store.sliceMilliseconds,
      sweep: async (now, limit) => {
        const swept = await store.sweep(now, limit);
        slices.push({ limit, handled: swept.handled });
        return swept;
      },
    };
    const faults: unknown[] = [];
    const log = { error: (fault: unknown) => void faults.push(fault) };
    // The second sweep would start after the end of this test, so the first one must remove everything.
    const sweeper = startSweeper(counted, log as never, () => (slices.length > 0 ? 600_000 : 1));
    const isSwept = () => slices.some(({ limit, handled }) => handled < limit);
    await waitUntil('the sweep ends', isSwept, { every: 5, seen: () => `${slices.length} slices` });
    await sweeper.stop();
    assert.deepEqual(faults, []);
    assert.equal((await store.figures()).userSessions, SESSIONS / 40);
    assert.ok(await store.findSession('s0', false), 'a living one stays');
    assert.equal(
      slices.reduce((sum, { handled }) => sum + handled, 0),
      SESSIONS + 1,
      'each session once, with the one of the beginning',
    );
    assert.ok(slices.length > 3, 'in small slices');
    assert.deepEqual(await store.sweep(LATER, 100), { removed: 0, handled: 0 });
  });
