import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openRefreshRealm, refused } from '../support/refresh-realm.ts';
import type { RealmInWorld } from '../support/world.ts';
import { claimsOf } from '../support/world.ts';

const { world, refusalOfRefresh, ownRealm, close } = await openRefreshRealm();
after(close);

const EXCEEDED = refused('Maximum allowed refresh token reuse exceeded');

async function graceRealm(seconds = '30') {
  return ownRealm({ attributes: { refreshGraceSeconds: seconds } });
}

/** Sets attributes of the client `web` of a realm. */
async function setAttributes(
  { own, client }: Awaited<ReturnType<typeof ownRealm>>,
  attributes: Record<string, string>,
): Promise<void> {
  await own.put({ do: 'put', client: { ...client, attributes } });
}

async function refreshTwice(own: RealmInWorld) {
  const first = await own.login('alice', { scope: 'openid' });
  const lost = await own.refresh(first.refresh_token);
  return { first, lost };
}

describe('the grace period (docs/keycloak/tokens.md#grace)', () => {
  it('returns the same refresh token and a fresh access token to a client that repeats a lost refresh', async () => {
    const { own } = await graceRealm();
    const { first, lost } = await refreshTwice(own);
    world.clock.pass(30);
    const again = await own.refresh(first.refresh_token);
    assert.equal(again.refresh_token, lost.refresh_token);
    assert.notEqual(again.access_token, lost.access_token);
    assert.equal(again.expires_in, 300);
    assert.equal(again.refresh_expires_in, lost.refresh_expires_in - 30);
    assert.equal(claimsOf(again.access_token)['sid'], first.session_state);
    assert.deepEqual(Object.keys(again), Object.keys(lost));
    assert.ok((await own.refresh(again.refresh_token)).refresh_token);
  });

  it('logs a repetition with the id of the token that it returned', async () => {
    const { own } = await graceRealm();
    const { first, lost } = await refreshTwice(own);
    await own.refresh(first.refresh_token);
    const event = world.events.at(-1)!;
    assert.equal(event.type, 'REFRESH_TOKEN');
    assert.equal(event.details['refresh_token_repeated'], 'true');
    assert.equal(event.details['updated_refresh_token_id'], claimsOf(lost.refresh_token)['jti']);
    assert.equal(world.events.at(-2)!.details['refresh_token_repeated'], undefined);
  });

  it('ends the session after the grace period', async () => {
    const { own } = await graceRealm();
    const { first, lost } = await refreshTwice(own);
    world.clock.pass(31);
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), EXCEEDED);
    assert.deepEqual(await refusalOfRefresh(lost.refresh_token, {}, own), refused('Session not active'));
  });

  it('ends the session if the successor was used', async () => {
    const { own } = await graceRealm();
    const { first, lost } = await refreshTwice(own);
    await own.refresh(lost.refresh_token);
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), refused('Stale token'));
  });

  it('has no grace period by default, and none for a value that is not a whole number up to 300', async () => {
    for (const value of [undefined, '0', '-1', '301', '1e2', ' 30', '3.5', 'yes']) {
      const { own } = await ownRealm({
        attributes: value === undefined ? {} : { refreshGraceSeconds: value },
      });
      const { first } = await refreshTwice(own);
      assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), EXCEEDED, String(value));
    }
  });

  it('the attribute of a client wins over that of its realm', async () => {
    const without = await graceRealm();
    await setAttributes(without, { refreshGraceSeconds: '0' });
    const { first } = await refreshTwice(without.own);
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, without.own), EXCEEDED);
    const withGrace = await ownRealm();
    await setAttributes(withGrace, { refreshGraceSeconds: '5' });
    const second = await refreshTwice(withGrace.own);
    const again = await withGrace.own.refresh(second.first.refresh_token);
    assert.equal(again.refresh_token, second.lost.refresh_token);
  });

  it('does not apply to another client', async () => {
    const { own } = await graceRealm();
    await own.client('other');
    const { first, lost } = await refreshTwice(own);
    assert.deepEqual(
      await refusalOfRefresh(first.refresh_token, { client_id: 'other' }, own),
      refused("Invalid refresh token. Token client and authorized client don't match"),
    );
    assert.ok((await own.refresh(lost.refresh_token)).refresh_token);
  });

  it('does not count a repetition as one of the uses that refreshTokenMaxReuse allows', async () => {
    const { own } = await ownRealm({ refreshTokenMaxReuse: 1, attributes: { refreshGraceSeconds: '30' } });
    const { first, lost } = await refreshTwice(own);
    for (let time = 0; time < 3; time++)
      assert.equal((await own.refresh(first.refresh_token)).refresh_token, lost.refresh_token);
    world.clock.pass(31);
    const reuse = await own.refresh(first.refresh_token);
    assert.notEqual(reuse.refresh_token, lost.refresh_token);
    assert.equal((await own.refresh(first.refresh_token)).refresh_token, reuse.refresh_token);
    world.clock.pass(31);
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), EXCEEDED);
  });

  it('a repetition can narrow the scope of its own response', async () => {
    const { own } = await graceRealm();
    const first = await own.login('alice', { scope: 'openid phone' });
    const lost = await own.refresh(first.refresh_token);
    const narrow = await own.refresh(first.refresh_token, { scope: 'openid' });
    assert.equal(narrow.refresh_token, lost.refresh_token);
    assert.ok(!narrow.scope.split(' ').includes('phone'));
    assert.ok((await own.refresh(lost.refresh_token)).scope.split(' ').includes('phone'));
  });

  it('rejects a repetition of a user who was disabled in between, and keeps the session', async () => {
    const { own, user } = await graceRealm();
    const { first } = await refreshTwice(own);
    await own.put({ do: 'put', user: { ...user, enabled: false } });
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), refused('User disabled'));
  });

  it('also repeats offline tokens', async () => {
    const { own } = await graceRealm();
    const first = await own.login('alice', { scope: 'offline_access' });
    const lost = await own.refresh(first.refresh_token);
    const again = await own.refresh(first.refresh_token);
    assert.equal(again.refresh_token, lost.refresh_token);
    assert.equal(again.refresh_expires_in, 0);
  });

  it('all of 50 parallel requests with the same token receive the same refresh token', async () => {
    const { own } = await graceRealm();
    const { refresh_token } = await own.login('alice');
    const results = await Promise.all(Array.from({ length: 50 }, () => own.refresh(refresh_token)));
    assert.equal(new Set(results.map((result) => result.refresh_token)).size, 1);
    assert.equal(new Set(results.map((result) => result.access_token)).size, 50);
  });
});
