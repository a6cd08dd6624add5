import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openRefreshRealm, refused } from '../support/refresh-realm.ts';
import { claimsOf, refusalOf } from '../support/world.ts';

const { world, realm, alice, refusalOfRefresh, ownRealm, close } = await openRefreshRealm();
after(close);

describe('rotation (docs/keycloak/tokens.md#rotation)', () => {
  it('returns new tokens of the same session, with the full lifetime from now', async () => {
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

  it('ends the whole user session, including the newest token, if a token is reused', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await refusalOfRefresh(first.refresh_token);
    assert.deepEqual(await refusalOfRefresh(second.refresh_token), refused('Session not active'));
    assert.equal(await world.store.findSession(first.session_state!, false), undefined);
  });

  it('logs an event that has session, user and reason and marks the reuse', async () => {
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

  it('keeps the other sessions of the user', async () => {
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

  it('accepts every token of an active family if rotation is disabled', async () => {
    const { own } = await ownRealm({ revokeRefreshToken: false });
    const { refresh_token } = await own.login('alice');
    for (let uses = 0; uses < 3; uses++) assert.ok((await own.refresh(refresh_token)).refresh_token);
  });

  it('keeps the token valid if the scope is rejected', async () => {
    const { refresh_token } = await realm.login('alice');
    await refusalOfRefresh(refresh_token, { scope: 'nonsense' });
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('rotates offline tokens the same way', async () => {
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

  it('accepts exactly one of 200 parallel presentations of one token, and none afterwards', async () => {
    const { refresh_token } = await realm.login('alice');
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => realm.refresh(refresh_token)));
    const won = results.filter((result) => result.status === 'fulfilled');
    assert.equal(won.length, 1);
    const newest = (won[0] as PromiseFulfilledResult<{ refresh_token?: string }>).value.refresh_token;
    assert.deepEqual(await refusalOfRefresh(newest), refused('Session not active'));
  });

  it('stores only the SHA-256 of a refresh token', async () => {
    const { refresh_token } = await realm.login('alice');
    const claims = claimsOf(refresh_token);
    const found = (await world.store.findFamily(String(claims['reuse_id'])))!;
    assert.equal(found.family.currentHash.length, 32);
    assert.ok(!JSON.stringify(found).includes(refresh_token!));
  });

  it('returns no further refresh token to a client whose refresh tokens were disabled', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    const attributes = { 'use.refresh.tokens': 'false' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    const answer = await own.refresh(refresh_token);
    assert.equal(answer.refresh_token, undefined);
    assert.equal(answer.refresh_expires_in, 0);
  });
});

describe('scope at a refresh (docs/keycloak/tokens.md#refresh)', () => {
  const words = (scope: string) => new Set(scope.split(' '));

  it('can be narrowed for one response, and the next response has the full scope again', async () => {
    const first = await realm.login('alice', { scope: 'openid phone' });
    const narrow = await realm.refresh(first.refresh_token, { scope: 'openid' });
    assert.deepEqual(words(narrow.scope), new Set(['openid', 'profile', 'email']));
    const full = await realm.refresh(narrow.refresh_token);
    assert.deepEqual(words(full.scope), new Set(['openid', 'profile', 'email', 'phone']));
  });

  it('ignores a scope that was not granted at login', async () => {
    const first = await realm.login('alice');
    const answer = await realm.refresh(first.refresh_token, { scope: 'openid phone' });
    assert.deepEqual(words(answer.scope), new Set(['profile', 'email']));
    assert.equal(answer.id_token, undefined);
  });

  it('returns an ID token after a login with openid, even if openid is left out', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    const answer = await realm.refresh(first.refresh_token, { scope: 'email' });
    assert.ok(answer.id_token);
    assert.deepEqual(words(answer.scope), new Set(['profile', 'email']));
  });

  it('reads the current roles at every refresh', async () => {
    const { own, user } = await ownRealm();
    const first = await own.login('alice');
    const { reader } = own.fixture.roles;
    await own.put({ do: 'put', user: { ...user, roleIds: [...user.roleIds, reader.id] } });
    const claims = claimsOf((await own.refresh(first.refresh_token)).access_token);
    const { roles } = claims['realm_access'] as { roles: string[] };
    assert.ok(roles.includes('reader'));
  });

  it('rejects offline tokens of a user without the role offline_access, even at a refresh', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    await own.put({ do: 'put', user: { ...user, roleIds: [] } });
    const login = await refusalOf(own.login('alice', { scope: 'offline_access' }));
    assert.equal(login.case, 'offline-not-allowed');
    assert.equal((await refusalOf(own.refresh(refresh_token))).case, 'offline-not-allowed');
  });

  it('issues offline tokens to a client without full scope, because the scope includes the role', async () => {
    const { own, client } = await ownRealm();
    await own.put({ do: 'put', client: { ...client, fullScopeAllowed: false } });
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    assert.ok((await own.refresh(refresh_token)).refresh_token);
  });
});
