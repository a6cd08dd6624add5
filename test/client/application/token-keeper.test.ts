import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowserPeers } from '../../../src/client/application/browser-peers.ts';
import type { BrowserWindow } from '../../../src/client/application/browser-window.ts';
import { ClientError } from '../../../src/client/application/client-error.ts';
import { until } from '../example-realm.ts';
import { openTabs, tokenSet } from './tabs.ts';

const UNREACHABLE = async () => {
  throw new ClientError('unreachable', 'offline');
};

test('returns a token with more than 60 seconds left, and renews it first otherwise', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  clock.turn(239_000);
  assert.equal(await tab!.keeper.accessToken(), 'access-1');
  assert.equal(service.refreshes, 0);
  clock.turn(2_000);
  assert.equal(await tab!.keeper.accessToken(), 'access-2');
  assert.equal(service.refreshes, 1);
});

test('renews automatically 60 seconds before the token expires', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  clock.turn(240_000);
  await until(() => tab!.keeper.tokens?.accessToken === 'access-2', 'the token is renewed');
  assert.equal(service.refreshes, 1);
});

test('renews a token that lives for months once, at its end', async (t) => {
  const { clock, service, open } = openTabs(t);
  const { keeper } = open();
  const days = 24 * 3_600_000;
  const tokens = tokenSet(clock, service.current);
  keeper.put({ ...tokens, renewAt: clock.now() + 60 * days, expiresAt: clock.now() + 61 * days });
  for (let day = 0; day < 59; day++) clock.turn(days);
  assert.equal(service.refreshes, 0);
  for (let day = 0; day < 2; day++) clock.turn(days);
  await until(() => keeper.tokens?.accessToken === 'access-2', 'the token is renewed');
  assert.equal(service.refreshes, 1);
});

test('twenty tabs with ten callers each renew with one refresh, and all get the new token', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const tabs = await openMany(20);
  clock.turn(241_000);
  const calls = tabs.flatMap(({ keeper }) => Array.from({ length: 10 }, () => keeper.accessToken()));
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(['access-2']));
  assert.equal(service.refreshes, 1);
  assert.equal(service.ended, false);
});

test('tabs with separate logins share one token family after the first renewal', async (t) => {
  const { clock, service, open } = openTabs(t);
  const tabs = Array.from({ length: 5 }, () => open());
  for (const [index, { keeper }] of tabs.entries())
    keeper.put(tokenSet(clock, index === 0 ? 1 : 100 + index));
  clock.turn(241_000);
  assert.equal(await tabs[0]!.keeper.accessToken(), 'access-2');
  const others = await Promise.all(tabs.map(({ keeper }) => keeper.accessToken()));
  assert.deepEqual(new Set(others), new Set(['access-2']));
  assert.equal(service.refreshes, 1);
});

test('a tab never accepts tokens of another session, such as another user’s', async (t) => {
  const { clock, open, service } = openTabs(t);
  const [alice, bob] = [open(), open()];
  alice.keeper.put(tokenSet(clock, 1));
  clock.turn(1_000);
  bob.keeper.put(tokenSet(clock, 50, 'bob 2'));
  clock.turn(240_000);
  await alice.keeper.accessToken();
  assert.equal(alice.keeper.tokens?.session, 'alice 1');
  assert.equal(bob.keeper.tokens?.session, 'bob 2');
  assert.equal(service.refreshes, 1);
});

test('a refusal ends the session in every tab with the same tokens, with the message of the service', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const tabs = await openMany(3);
  service.ended = true;
  clock.turn(241_000);
  await assert.rejects(tabs[1]!.keeper.accessToken(), { name: 'ClientError', code: 'logged_out' });
  await until(() => tabs.every(({ keeper }) => keeper.tokens === undefined), 'all tabs are logged out');
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

test('an unreachable service logs no user out, and the old token is used until it expires', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab, other] = await openMany(2);
  service.fault = UNREACHABLE;
  clock.turn(241_000);
  assert.equal(await tab!.keeper.accessToken(), 'access-1');
  clock.turn(59_500);
  await assert.rejects(tab!.keeper.accessToken(), { code: 'unreachable' });
  service.fault = undefined;
  clock.turn(10_000);
  assert.equal(await tab!.keeper.accessToken(), 'access-2');
  assert.equal(await other!.keeper.accessToken(), 'access-2');
});

test('retries a failed renewal automatically', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  service.fault = UNREACHABLE;
  clock.turn(240_000);
  await until(() => service.refreshes === 1, 'the first try');
  await tab!.keeper.accessToken();
  service.fault = undefined;
  clock.turn(30_000);
  await until(() => tab!.keeper.tokens?.accessToken === 'access-2', 'the token is renewed');
});

test('never presents a refresh token again after a tab closed during its renewal', async (t) => {
  const { clock, service, name, openMany } = openTabs(t);
  const [tab, other] = await openMany(2);
  // The tab that renews for all says so, gets its answer, and is closed before it can report the result.
  const dying = openBrowserPeers(globalThis as unknown as BrowserWindow, name);
  dying.send({ type: 'using', id: tab!.keeper.tokens!.id, by: dying.me });
  service.current += 1;
  await dying.ask('all');
  dying.close();
  clock.turn(241_000);
  await assert.rejects(tab!.keeper.accessToken(), { code: 'logged_out' });
  await until(() => other!.keeper.tokens === undefined, 'the other tab knows');
  assert.deepEqual(other!.events.at(-1), { type: 'ended', reason: 'renewal_interrupted' });
  assert.equal(service.refreshes, 0);
  assert.equal(service.ended, false);
});

test('waits for a tab that renewed for all tabs and reports slowly', async (t) => {
  const { clock, service, name, openMany } = openTabs(t);
  const [tab] = await openMany(2);
  // It is there, too busy to answer, and has let go of the lock.
  const slow = openBrowserPeers(globalThis as unknown as BrowserWindow, name);
  t.after(() => slow.close());
  await slow.ask('all');
  slow.send({ type: 'using', id: tab!.keeper.tokens!.id, by: slow.me });
  clock.turn(241_000);
  const token = tab!.keeper.accessToken();
  setTimeout(() => slow.send({ type: 'tokens', tokens: tokenSet(clock, 2) }), 1_500);
  assert.equal(await token, 'access-2');
  assert.equal(service.refreshes, 0);
});

test('renews a rejected access token once, but not after a second rejection within five seconds', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab] = await openMany(1);
  const renewed = await Promise.all([1, 2, 3].map(() => tab!.keeper.renewRefused('access-1')));
  assert.deepEqual(renewed, ['access-2', 'access-2', 'access-2']);
  assert.equal(await tab!.keeper.renewRefused('access-1'), 'access-2');
  assert.equal(await tab!.keeper.renewRefused('access-2'), 'access-2');
  assert.equal(service.refreshes, 1);
  clock.turn(6_000);
  assert.equal(await tab!.keeper.renewRefused('access-2'), 'access-3');
});

test('a logout ends the other tabs of the session, and a renewal in progress does not bring it back', async (t) => {
  const { clock, openMany } = openTabs(t);
  const [tab, other] = await openMany(2);
  clock.turn(241_000);
  const renewal = tab!.keeper.accessToken();
  tab!.keeper.logout();
  await assert.rejects(renewal, { code: 'logged_out' });
  assert.equal(tab!.keeper.tokens, undefined);
  await until(() => other!.keeper.tokens === undefined, 'the other tab ends');
  assert.deepEqual(other!.events.at(-1), { type: 'ended', reason: 'logout_elsewhere' });
});

test('a new tab copies only the tokens of the user that it had before', async (t) => {
  const { open, openMany } = openTabs(t);
  await openMany(1);
  const late = open();
  assert.equal(await late.keeper.join('bob'), 'alone');
  assert.equal(await late.keeper.join('alice'), 'joined');
});

test('a session that is closed during a renewal stays closed, and the other tabs get the tokens', async (t) => {
  const { clock, service, openMany } = openTabs(t);
  const [tab, other] = await openMany(2);
  const answer = Promise.withResolvers<void>();
  service.fault = async () => {
    await answer.promise;
    return tokenSet(clock, 2);
  };
  clock.turn(241_000);
  const renewal = tab!.keeper.accessToken();
  await until(() => service.refreshes > 0, 'the renewal is under way');
  tab!.keeper.close();
  answer.resolve();
  await assert.rejects(renewal, { code: 'logged_out' });
  assert.equal(tab!.keeper.tokens, undefined);
  assert.equal(await other!.keeper.accessToken(), 'access-2');
  assert.equal(service.refreshes, 1);
});
