import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openRefreshRealm, refused } from '../support/refresh-realm.ts';
import { claimsOf, refusalOf } from '../support/world.ts';

const { world, realm, alice, refusalOfRefresh, ownRealm, close } = await openRefreshRealm();
after(close);

describe('rotation (docs/keycloak/tokens.md#rotation)', () => {
  it('returns new tokens of the same session, whose lifetimes start again', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    world.clock.pass(100);
    const second = await realm.refresh(first.refresh_token);
    assert.deepEqual(Object.keys(second), [
      'access_token',
      'expires_in',
      'refresh_expires_in',
      'refresh_token',
      'token_type',
      'id_token',
      'not-before-policy',
      'session_state',
      'scope',
    ]);
    assert.equal(second.refresh_expires_in, 1800);
    assert.equal(second.session_state, first.session_state);
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.match(String(claimsOf(second.access_token)['jti']), /^onrtrt:/);
  });

  it('ends the whole user session, including the newest refresh token, if an older token is reused', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await refusalOfRefresh(first.refresh_token);
    assert.deepEqual(await refusalOfRefresh(second.refresh_token), refused('Session not active'));
    assert.equal(await world.store.findSession(first.session_state!, false), undefined);
  });

  it('logs a reuse as an event with the session, the user and the reason', async () => {
    const first = await realm.login('alice');
    await realm.refresh(first.refresh_token);
    await refusalOfRefresh(first.refresh_token);
    const event = world.events.at(-1)!;
    assert.equal(event.type, 'REFRESH_TOKEN_ERROR');
    assert.equal(event.error, 'invalid_token');
    assert.equal(event.userId, alice.id);
    assert.equal(event.sessionId, first.session_state);
    assert.equal(event.details['reason'], 'Maximum allowed refresh token reuse exceeded');
    assert.equal(event.details['refresh_token_reuse'], 'true');
  });

  it('does not end other sessions of the user after a reuse', async () => {
    const [one, two] = [await realm.login('alice'), await realm.login('alice')];
    await realm.refresh(one.refresh_token);
    await refusalOfRefresh(one.refresh_token);
    assert.ok((await realm.refresh(two.refresh_token)).refresh_token);
  });

  it('accepts a token as often as refreshTokenMaxReuse allows', async () => {
    const { own } = await ownRealm({ refreshTokenMaxReuse: 1 });
    const { refresh_token } = await own.login('alice');
    assert.ok((await own.refresh(refresh_token)).access_token);
    assert.ok((await own.refresh(refresh_token)).access_token);
    assert.deepEqual(
      await refusalOfRefresh(refresh_token, {}, own),
      refused('Maximum allowed refresh token reuse exceeded'),
    );
  });

  it('accepts every token of an active token family if rotation is disabled', async () => {
    const { own } = await ownRealm({ revokeRefreshToken: false });
    const { refresh_token } = await own.login('alice');
    for (let uses = 0; uses < 3; uses++) assert.ok((await own.refresh(refresh_token)).refresh_token);
  });

  it('does not use up the refresh token if the requested scope is rejected', async () => {
    const { refresh_token } = await realm.login('alice');
    await refusalOfRefresh(refresh_token, { scope: 'nonsense' });
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('also rotates offline tokens', async () => {
    const first = await realm.login('alice', { scope: 'offline_access' });
    assert.equal(first.refresh_expires_in, 0);
    assert.equal(claimsOf(first.refresh_token)['exp'], undefined);
    assert.equal(claimsOf(first.refresh_token)['typ'], 'Offline');
    const second = await realm.refresh(first.refresh_token);
    assert.equal(
      (await refusalOfRefresh(first.refresh_token)).description,
      'Maximum allowed refresh token reuse exceeded',
    );
    assert.deepEqual(await refusalOfRefresh(second.refresh_token), refused('Offline user session not found'));
  });

  it('accepts only one of 200 parallel requests with the same refresh token, and none afterwards', async () => {
    const { refresh_token } = await realm.login('alice');
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => realm.refresh(refresh_token)));
    const won = results.filter((result) => result.status === 'fulfilled');
    assert.equal(won.length, 1);
    const newest = (won[0] as PromiseFulfilledResult<{ refresh_token?: string }>).value.refresh_token;
    assert.deepEqual(await refusalOfRefresh(newest), refused('Session not active'));
  });

  it('stores only the SHA-256 hash of a refresh token', async () => {
    const { refresh_token } = await realm.login('alice');
    const claims = claimsOf(refresh_token);
    const found = (await world.store.findFamily(String(claims['sid']), String(claims['reuse_id'])))!;
    assert.equal(found.family.currentHash.length, 32);
    assert.ok(!JSON.stringify(found).includes(refresh_token!));
  });

  it('returns no new refresh token to a client that has meanwhile been configured not to get one', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    const attributes = { 'use.refresh.tokens': 'false' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    const answer = await own.refresh(refresh_token);
    assert.equal(answer.refresh_token, undefined);
    assert.equal(answer.refresh_expires_in, 0);
  });
});

describe('the scope of a refresh (docs/keycloak/tokens.md#refresh)', () => {
  const words = (scope: string) => new Set(scope.split(' '));

  it('a refresh can narrow the scope of one response, and the next response has the full scope again', async () => {
    const first = await realm.login('alice', { scope: 'openid phone' });
    const narrow = await realm.refresh(first.refresh_token, { scope: 'openid' });
    assert.deepEqual(words(narrow.scope), new Set(['openid', 'profile', 'email']));
    const full = await realm.refresh(narrow.refresh_token);
    assert.deepEqual(words(full.scope), new Set(['openid', 'profile', 'email', 'phone']));
  });

  it('a refresh ignores a scope that was not granted at the login', async () => {
    const first = await realm.login('alice');
    const answer = await realm.refresh(first.refresh_token, { scope: 'openid phone' });
    assert.deepEqual(words(answer.scope), new Set(['profile', 'email']));
    assert.equal(answer.id_token, undefined);
  });

  it('a refresh without openid still returns an ID token if the login requested openid', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    const answer = await realm.refresh(first.refresh_token, { scope: 'email' });
    assert.ok(answer.id_token);
    assert.deepEqual(words(answer.scope), new Set(['profile', 'email']));
  });

  it("a refresh determines the claims from the user's current roles", async () => {
    const { own, user } = await ownRealm();
    const first = await own.login('alice');
    const { reader } = own.fixture.roles;
    await own.put({ do: 'put', user: { ...user, roleIds: [...user.roleIds, reader.id] } });
    const claims = claimsOf((await own.refresh(first.refresh_token)).access_token);
    const { roles } = claims['realm_access'] as { roles: string[] };
    assert.ok(roles.includes('reader'));
  });

  it('rejects a login that requests an offline token, and the refresh of an offline token, if the user lacks the role offline_access', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    await own.put({ do: 'put', user: { ...user, roleIds: [] } });
    const login = await refusalOf(own.login('alice', { scope: 'offline_access' }));
    assert.equal(login.case, 'offline-not-allowed');
    assert.equal((await refusalOf(own.refresh(refresh_token))).case, 'offline-not-allowed');
  });

  it('issues offline tokens to a client without full scope, because the scope offline_access includes the role', async () => {
    const { own, client } = await ownRealm();
    await own.put({ do: 'put', client: { ...client, fullScopeAllowed: false } });
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    assert.ok((await own.refresh(refresh_token)).refresh_token);
  });
});
