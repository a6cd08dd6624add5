import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError } from '../../../src/client/application/client-error.ts';
import { LostResponse } from '../../../src/client/application/refresh.ts';
import { until } from '../example-realm.ts';
import { openPeers, openTabs, tokenSet } from './tabs.ts';

const UNREACHABLE = async () => {
  throw new ClientError('unreachable', 'offline');
};

test('returns the current token while it is valid for more than 60 seconds, and otherwise renews it first', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  clock.advance(239_000);
  assert.equal(await tab.keeper.accessToken(), 'access-1');
  assert.equal(service.refreshes, 0);
  clock.advance(2_000);
  assert.equal(await tab.keeper.accessToken(), 'access-2');
  assert.equal(service.refreshes, 1);
});

test('renews the token when 60 seconds are left, even if no caller needs it', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  clock.advance(240_000);
  await until(() => tab.keeper.tokens?.accessToken === 'access-2', 'the tab has renewed the token');
  assert.equal(service.refreshes, 1);
});

test('if a token is valid for months, renews it once, shortly before it expires', async (t) => {
  const { clock, service, open } = openTabs(t);
  const { keeper } = open();
  const days = 24 * 3_600_000;
  const tokens = tokenSet(clock, service.current);
  keeper.put({ ...tokens, renewAt: clock.now() + 60 * days, expiresAt: clock.now() + 61 * days });
  for (let day = 0; day < 59; day++) clock.advance(days);
  assert.equal(service.refreshes, 0);
  for (let day = 0; day < 2; day++) clock.advance(days);
  await until(() => keeper.tokens?.accessToken === 'access-2', 'the tab has renewed the token');
  assert.equal(service.refreshes, 1);
});

test('two hundred parallel callers in twenty tabs share one refresh and its token', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const tabs = await openMany(20);
  clock.advance(241_000);
  const calls = tabs.flatMap(({ keeper }) => Array.from({ length: 10 }, () => keeper.accessToken()));
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(['access-2']));
  assert.equal(service.refreshes, 1);
  assert.equal(service.ended, false);
});

test('tabs that logged in separately to one session share tokens after the first renewal', async (t) => {
  const { clock, service, open } = openTabs(t);
  const tabs = Array.from({ length: 5 }, () => open());
  for (const [index, { keeper }] of tabs.entries())
    keeper.put(tokenSet(clock, index === 0 ? 1 : 100 + index));
  clock.advance(241_000);
  assert.equal(await tabs[0]?.keeper.accessToken(), 'access-2');
  const others = await Promise.all(tabs.map(({ keeper }) => keeper.accessToken()));
  assert.deepEqual(new Set(others), new Set(['access-2']));
  assert.equal(service.refreshes, 1);
});

test('a tab never takes over tokens of another session, such as that of another user', async (t) => {
  const { clock, open, service } = openTabs(t);
  const [alice, bob] = [open(), open()];
  alice.keeper.put(tokenSet(clock, 1));
  clock.advance(1_000);
  bob.keeper.put(tokenSet(clock, 50, 'bob 2'));
  clock.advance(240_000);
  await alice.keeper.accessToken();
  assert.equal(alice.keeper.tokens?.session, 'alice 1');
  assert.equal(bob.keeper.tokens?.session, 'bob 2');
  assert.equal(service.refreshes, 1);
});

test("a rejected refresh logs out every tab with the same tokens, and each tab gets the service's error", async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const tabs = await openMany(3);
  service.ended = true;
  clock.advance(241_000);
  await assert.rejects(tabs[1]!.keeper.accessToken(), { name: 'ClientError', code: 'logged_out' });
  await until(() => tabs.every(({ keeper }) => keeper.tokens === undefined), 'all tabs have logged out');
  for (const { events } of tabs) {
    assert.deepEqual(events.at(-1), {
      type: 'ended',
      reason: 'renewal_refused',
      status: 400,
      error: 'invalid_grant',
    });
  }
  assert.equal(service.refreshes, 1);
});

test('keeps the session while the service is unreachable, and uses its token until the token expires', async (t) => {
  const { clock, service, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  service.fault = UNREACHABLE;
  clock.advance(241_000);
  assert.equal(await tab.keeper.accessToken(), 'access-1');
  clock.advance(59_500);
  await assert.rejects(tab.keeper.accessToken(), { code: 'unreachable' });
  service.fault = undefined;
  clock.advance(10_000);
  assert.equal(await tab.keeper.accessToken(), 'access-2');
  assert.equal(await other.keeper.accessToken(), 'access-2');
});

test('retries a failed renewal even if no caller needs a token', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  service.fault = UNREACHABLE;
  clock.advance(240_000);
  await until(() => service.refreshes === 1, 'the first attempt');
  await tab.keeper.accessToken();
  service.fault = undefined;
  clock.advance(30_000);
  await until(() => tab.keeper.tokens?.accessToken === 'access-2', 'the tab has renewed the token');
});

test('never sends a refresh token that a tab was using when the tab closed', async (t) => {
  const { clock, service, name, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  // A tab announces that it is renewing the token, and receives the response, but closes before it shares the new
  // tokens.
  const closing = openPeers(name);
  closing.send({ type: 'using', id: tab.keeper.tokens!.id, by: closing.me, at: clock.now() });
  service.current += 1;
  await closing.ask('all');
  closing.close();
  clock.advance(241_000);
  await assert.rejects(tab.keeper.accessToken(), { code: 'logged_out' });
  await until(() => other.keeper.tokens === undefined, 'the other tab has logged out');
  assert.deepEqual(other.events.at(-1), { type: 'ended', reason: 'renewal_interrupted' });
  assert.equal(service.refreshes, 0);
  assert.equal(service.ended, false);
});

test('within the grace period, sends a refresh token again that a tab was using when the tab closed', async (t) => {
  for (const [passed, code] of [
    [7_000, 'renewed'],
    [8_000, 'logged_out'],
  ] as const) {
    const { clock, service, name, openMany } = openTabs(t, 8_000);
    const [tab] = await openMany(1);
    clock.advance(239_000);
    const closing = openPeers(name);
    closing.send({ type: 'using', id: tab.keeper.tokens!.id, by: closing.me, at: clock.now() });
    await closing.ask('all');
    closing.close();
    service.current = 1;
    clock.advance(passed);
    if (code === 'renewed') {
      assert.equal(await tab.keeper.accessToken(), 'access-2');
      assert.equal(service.usedFor, passed);
    } else await assert.rejects(tab.keeper.accessToken(), { code });
  }
});

test('ends the session without another refresh if the service used the token and its response was lost', async (t) => {
  const { clock, service, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  service.fault = async () => {
    throw new LostResponse('unexpected_answer', 'the connection broke');
  };
  clock.advance(241_000);
  await assert.rejects(tab.keeper.accessToken(), { code: 'logged_out' });
  await until(() => other.keeper.tokens === undefined, 'the other tab has logged out');
  assert.deepEqual(other.events.at(-1), { type: 'ended', reason: 'renewal_interrupted' });
  assert.equal(service.refreshes, 1);
});

test('after a failed renewal, sends no request for five seconds, and throws its error', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  service.fault = UNREACHABLE;
  clock.advance(301_000);
  for (let call = 0; call < 20; call++)
    await assert.rejects(tab.keeper.accessToken(), { code: 'unreachable', message: 'offline' });
  assert.equal(service.refreshes, 1);
});

test('a clock that is set back stops neither the next renewal nor its tokens in other tabs', async (t) => {
  const { clock, service, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  service.fault = UNREACHABLE;
  clock.advance(241_000);
  await until(() => service.refreshes > 0, 'the first attempt');
  await tab.keeper.accessToken();
  service.fault = undefined;
  clock.advance(-3_600_000);
  const before = service.refreshes;
  // The clock says that the token is valid for an hour, so only its rejection renews it.
  assert.equal(await tab.keeper.renewRejected('access-1'), 'access-2');
  await until(() => other.keeper.tokens?.accessToken === 'access-2', 'the other tab has the new tokens');
  clock.advance(-60_000);
  assert.equal(await other.keeper.renewRejected('access-2'), 'access-3');
  assert.equal(service.refreshes, before + 2);
  assert.equal(service.ended, false);
});

test('renews a token that is expired when it arrives at most once a second', async (t) => {
  const { clock, service, open } = openTabs(t);
  const { keeper } = open();
  const expired = () => ({
    ...tokenSet(clock, service.current),
    renewAt: clock.now(),
    expiresAt: clock.now(),
  });
  service.fault = async () => expired();
  keeper.put(expired());
  for (let call = 0; call < 20; call++) await keeper.accessToken();
  assert.equal(service.refreshes, 0);
  clock.advance(1_000);
  for (let call = 0; call < 20; call++) await keeper.accessToken();
  assert.equal(service.refreshes, 1);
});

test('a login that completes after the session was closed stores no tokens', async (t) => {
  const { clock, service, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  tab.keeper.close();
  assert.throws(() => tab.keeper.put(tokenSet(clock, 1)), { code: 'logged_out' });
  assert.equal(await tab.keeper.join(), 'alone');
  clock.advance(241_000);
  assert.equal(await other.keeper.accessToken(), 'access-2');
  assert.equal(service.refreshes, 1);
});

test('waits for a slow tab that has renewed the token for all tabs', async (t) => {
  const { clock, service, name, openMany } = openTabs(t);
  const [tab] = await openMany(2);
  // The slow tab is open and has released the renewal lock, but is too busy to reply.
  const slow = openPeers(name);
  t.after(() => slow.close());
  await slow.ask('all');
  slow.send({ type: 'using', id: tab.keeper.tokens!.id, by: slow.me, at: clock.now() });
  clock.advance(241_000);
  const token = tab.keeper.accessToken();
  setTimeout(() => slow.send({ type: 'tokens', tokens: tokenSet(clock, 2) }), 1_500);
  assert.equal(await token, 'access-2');
  assert.equal(service.refreshes, 0);
});

test('renews an access token that an API rejects, but not again within five seconds', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  const renewed = await Promise.all([1, 2, 3].map(() => tab.keeper.renewRejected('access-1')));
  assert.deepEqual(renewed, ['access-2', 'access-2', 'access-2']);
  assert.equal(await tab.keeper.renewRejected('access-1'), 'access-2');
  assert.equal(await tab.keeper.renewRejected('access-2'), 'access-2');
  assert.equal(service.refreshes, 1);
  clock.advance(6_000);
  assert.equal(await tab.keeper.renewRejected('access-2'), 'access-3');
});

test('a logout ends the session in all tabs, and a renewal in flight does not restore it', async (t) => {
  const { clock, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  clock.advance(241_000);
  const renewal = tab.keeper.accessToken();
  tab.keeper.logout();
  await assert.rejects(renewal, { code: 'logged_out' });
  assert.equal(tab.keeper.tokens, undefined);
  await until(() => other.keeper.tokens === undefined, 'the other tab has logged out');
  assert.deepEqual(other.events.at(-1), { type: 'ended', reason: 'logout_elsewhere' });
});

test("a tab takes over a session only if it belongs to the tab's previous user", async (t) => {
  const { open, openMany } = openTabs(t);
  await openMany(1);
  const joining = open();
  assert.equal(await joining.keeper.join('bob'), 'alone');
  assert.equal(await joining.keeper.join('alice'), 'joined');
});

test('a session that is closed during a renewal stays closed, and the other tabs get the new tokens', async (t) => {
  const { clock, service, openTwo } = openTabs(t);
  const [tab, other] = await openTwo();
  const response = Promise.withResolvers<void>();
  service.fault = async () => {
    await response.promise;
    return tokenSet(clock, 2);
  };
  clock.advance(241_000);
  const renewal = tab.keeper.accessToken();
  await until(() => service.refreshes > 0, 'the renewal has started');
  tab.keeper.close();
  response.resolve();
  await assert.rejects(renewal, { code: 'logged_out' });
  assert.equal(tab.keeper.tokens, undefined);
  assert.equal(await other.keeper.accessToken(), 'access-2');
  assert.equal(service.refreshes, 1);
});
