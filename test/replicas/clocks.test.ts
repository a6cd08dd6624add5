import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seconds } from '../../src/core/index.ts';
import type { Store } from '../../src/store/index.ts';
import { aCode, aFamily, anAuthenticationSession, aSession, hash } from '../conformance/store/records.ts';
import { begin } from '../conformance/store/suite.ts';
import { makeDatabase, openOn } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

// These tests simulate replicas on machines with different clocks: the database's clock decides what has expired.

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const HOUR = 3_600_000;

/**
 * Defines a test with two stores of one database. The clock of the first store is an hour slow, and that of the second
 * an hour fast.
 */
const skewed = (title: string, run: (late: Store, early: Store) => Promise<void>): void => {
  test(title, { skip: missing ?? false }, async (t) => {
    const { url } = await makeDatabase(server!);
    const open = (by: number) => openOn(t, server!, url, { machineClock: { now: () => Date.now() + by } });
    const [late, early] = [await open(-HOUR), await open(HOUR)];
    await begin(late);
    await run(late, early);
  });
};

skewed('replicas whose machines are two hours apart use the time of the database', async (late, early) => {
  for (const store of [late, early])
    assert.ok(Math.abs(store.clock.now() - Date.now()) < 2_000, 'it is the time of the server');
  assert.ok(Math.abs(late.clock.now() - early.clock.now()) < 1_000);
});

skewed(
  'replicas with different clocks agree about claims, revocations, logins, codes and sessions',
  async (late, early) => {
    const now = seconds(early.clock);
    for (const [one, other] of [
      [late, early],
      [early, late],
    ] as const) {
      const name = one === late ? 'late' : 'early';
      const soon = seconds(one.clock) + 60;
      assert.equal(await one.claimOnce(name, soon), true);
      assert.equal(await other.claimOnce(name, soon), false, 'a claim holds everywhere');
      await one.revokeAccessToken(name, soon);
      assert.equal(await other.isAccessTokenRevoked(name), true, 'a revocation holds everywhere');
      await one.putAuthenticationSession(anAuthenticationSession({ id: name, expiresAt: soon }));
      assert.ok(await other.findAuthenticationSession(name), 'a login lives everywhere');
      const code = aCode({ hash: hash(name), sessionId: name, expiresAt: soon });
      const session = aSession({ id: name, startedAt: now, lastAccessAt: now });
      assert.equal(await one.finishLogin({ session, sessionMustExist: false, code }), 'finished');
      assert.ok(await other.findCode(hash(name), seconds(other.clock)), 'a code is valid everywhere');
      const family = aFamily({ id: name, sessionId: name, startedAt: now, lastRefreshAt: now });
      assert.equal(
        await other.startFamily({ hash: hash(name), now: seconds(other.clock) }, family),
        'started',
      );
      await other.sweep(seconds(other.clock), 100);
      assert.ok(await one.findFamily(name, name), 'neither removes records that the other still needs');
    }
  },
);

skewed('a record that has expired for one replica has expired for the other', async (late, early) => {
  const soon = seconds(late.clock) + 2;
  await late.putAuthenticationSession(anAuthenticationSession({ id: 'short', expiresAt: soon }));
  await late.claimOnce('short', soon);
  const ended = async (store: Store) => (await store.findAuthenticationSession('short')) === undefined;
  await waitUntil(
    'the login and the claim expire for both',
    async () => (await ended(early)) && (await ended(late)) && late.claimOnce('short', soon + 60),
    { seconds: 30 },
  );
  assert.equal(await early.claimOnce('short', soon + 60), false, 'it was claimed again');
});

test('corrects a jump of the machine’s clock at the next check', {
  skip: missing ?? false,
}, async (t) => {
  const { url } = await makeDatabase(server!);
  let by = 0;
  const store = await openOn(t, server!, url, { machineClock: { now: () => Date.now() + by } });
  for (const jump of [HOUR, -HOUR]) {
    by = jump;
    const isCorrected = () => Math.abs(store.clock.now() - Date.now()) <= 1_000;
    await waitUntil('the next checks read the time', isCorrected, { seconds: 30 });
  }
});
