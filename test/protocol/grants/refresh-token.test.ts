import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { signJws } from '../../../src/crypto/index.ts';
import { logoutByRefreshToken, revokeToken } from '../../../src/protocol/index.ts';
import { loginForCode, REDIRECT } from '../support/code.ts';
import { openRefreshRealm, refused } from '../support/refresh-realm.ts';
import { BASE_URL, claimsOf, refusalOf } from '../support/world.ts';

const { world, realm, web, refusalOfRefresh, ownRealm, close } = await openRefreshRealm();
after(close);

/** Returns a copy of a token with changed claims, signed with the realm's key for refresh tokens. */
async function forge(token: string | undefined, changes: Record<string, unknown>): Promise<string> {
  const configuration = (await world.store.findRealm(realm.name))!;
  const key = world.ctx.keys.signingKey(configuration, 'HS512');
  return signJws(key, { ...claimsOf(token), ...changes });
}

describe('the checks of a refresh, in their order (docs/keycloak/tokens.md#refresh)', () => {
  it('1: rejects a missing refresh_token', async () => {
    const form = { grant_type: 'refresh_token', client_id: 'web' };
    assert.equal((await refusalOf(realm.tokens(form))).case, 'missing-refresh-token');
  });

  it('2: rejects a scope that the client cannot have, before it reads the token', async () => {
    const row = await refusalOfRefresh('garbage', { scope: 'nonsense' });
    assert.deepEqual(row, { name: 'invalid-scope', description: 'Invalid scopes: nonsense' });
    assert.deepEqual(await refusalOfRefresh('garbage', { scope: '' }), {
      name: 'invalid-scope',
      description: 'Invalid scopes: ',
    });
  });

  it('3: rejects text that is not a refresh token of this realm', async () => {
    const { access_token, id_token, refresh_token } = await realm.login('alice', { scope: 'openid' });
    const { own } = await ownRealm();
    const elsewhere = (await own.login('alice')).refresh_token;
    for (const token of ['', 'garbage', 'a.b.c', access_token, id_token, elsewhere, `${refresh_token}x`])
      assert.deepEqual(await refusalOfRefresh(token), refused('Invalid refresh token'));
  });

  it('3: rejects a token with a different last character, even if only unused bits differ', async () => {
    const { refresh_token } = await realm.login('alice');
    const body = refresh_token!.slice(0, -1);
    for (const last of 'ABCDQgwx')
      if (!refresh_token!.endsWith(last))
        assert.deepEqual(await refusalOfRefresh(body + last), refused('Invalid refresh token'));
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('4: rejects a token of another issuer and names the expected one', async () => {
    const { refresh_token } = await realm.login('alice');
    const forged = await forge(refresh_token, { iss: 'https://elsewhere.test/realms/acme' });
    assert.deepEqual(
      await refusalOfRefresh(forged),
      refused(`Invalid token issuer. Expected '${BASE_URL}/realms/acme'`),
    );
  });

  it("5: rejects a token that is older than the realm's notBefore", async () => {
    const { own } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    world.clock.pass(2);
    await own.settings({ notBefore: world.clock.now() / 1000 });
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Stale token'));
    assert.equal((await own.login('alice'))['not-before-policy'], world.clock.now() / 1000);
  });

  it('6: rejects an expired token with "Token is not active" (RFC 6749 §5.2)', async () => {
    const { own } = await ownRealm({ ssoSessionIdleTimeout: 2 });
    const { refresh_token, refresh_expires_in } = await own.login('alice');
    assert.equal(refresh_expires_in, 2);
    world.clock.pass(2);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Token is not active'));
  });

  it('7: rejects a token of another client, and that client can still use it', async () => {
    const { refresh_token } = await realm.login('alice');
    assert.deepEqual(
      await refusalOfRefresh(refresh_token, { client_id: 'other' }),
      refused("Invalid refresh token. Token client and authorized client don't match"),
    );
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('8: rejects a token after its user has logged out', async () => {
    const { refresh_token } = await realm.login('alice');
    await logoutByRefreshToken(world.ctx, realm.request({ client_id: 'web', refresh_token: refresh_token! }));
    assert.deepEqual(await refusalOfRefresh(refresh_token), refused('Session not active'));
  });

  it('8: rejects a token whose session was idle too long, even if the token has not expired', async () => {
    const { own, client } = await ownRealm();
    const attributes = { 'client.session.idle.timeout': '5000' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    const { refresh_token, session_state } = await own.login('alice');
    world.clock.pass(1801);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Session not active'));
    assert.equal(await world.store.findSession(session_state!, false), undefined);
  });

  it('8: ends a session at its maximum age, however often it was used', async () => {
    const { own } = await ownRealm({ ssoSessionIdleTimeout: 1000, ssoSessionMaxLifespan: 2500 });
    let { refresh_token, refresh_expires_in } = await own.login('alice');
    for (const expected of [1000, 700]) {
      world.clock.pass(900);
      ({ refresh_token, refresh_expires_in } = await own.refresh(refresh_token));
      assert.equal(refresh_expires_in, expected);
    }
    world.clock.pass(700);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Token is not active'));
  });

  it("8': rejects an offline token whose session has ended, with a message for offline sessions", async () => {
    const { refresh_token } = await realm.login('alice', { scope: 'offline_access' });
    await logoutByRefreshToken(world.ctx, realm.request({ client_id: 'web', refresh_token: refresh_token! }));
    assert.deepEqual(await refusalOfRefresh(refresh_token), refused('Offline user session not found'));
  });

  it("8': rejects an offline token whose session was idle too long", async () => {
    const { own } = await ownRealm({ offlineSessionIdleTimeout: 100 });
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    world.clock.pass(100);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Offline session not active'));
  });

  it('9: rejects a token whose user was deleted, as if its session had ended', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    await own.put({ do: 'remove', what: 'user', id: user.id });
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Session not active'));
  });

  it('10: rejects a token whose user is disabled', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    await own.put({ do: 'put', user: { ...user, enabled: false } });
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('User disabled'));
  });

  it('11: rejects a token older than its session', async () => {
    const { refresh_token } = await realm.login('alice');
    const forged = await forge(refresh_token, { iat: world.clock.now() / 1000 - 1 });
    assert.deepEqual(
      await refusalOfRefresh(forged),
      refused('Refresh token issued before the user session started'),
    );
  });

  it('12: rejects a revoked token with "Token is not active", while the session continues', async () => {
    const { refresh_token, session_state } = await realm.login('alice');
    await revokeToken(world.ctx, realm.request({ client_id: 'web', token: refresh_token! }));
    assert.deepEqual(await refusalOfRefresh(refresh_token), refused('Token is not active'));
    assert.ok(await world.store.findSession(session_state!, false));
  });

  it('13: rejects a token whose client session was idle too long, and removes the client session', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    const attributes = { 'client.session.idle.timeout': '1' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    world.clock.pass(2);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Client session not active'));
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Token is not active'));
  });

  it("15: rejects a token that is older than the client's or the user's notBefore", async () => {
    const { own, client, user } = await ownRealm();
    const first = await own.login('alice');
    world.clock.pass(2);
    const notBefore = world.clock.now() / 1000;
    await own.put({ do: 'put', client: { ...client, notBefore } });
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), refused('Stale token'));
    await own.put({ do: 'put', client }, { do: 'put', user: { ...user, notBefore } });
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), refused('Stale token'));
  });

  it("15: accepts an offline token after an administrator's logout, which sets the user's notBefore", async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    world.clock.pass(2);
    const notBefore = world.clock.now() / 1000;
    await own.put({ do: 'put', user: { ...user, notBefore } });
    const answer = await own.refresh(refresh_token);
    assert.equal(answer['not-before-policy'], notBefore);
    assert.equal(answer.refresh_expires_in, 0);
  });

  it('16: rejects a client that now requires consent', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    await own.put({ do: 'put', client: { ...client, consentRequired: true } });
    assert.equal((await refusalOfRefresh(refresh_token, {}, own)).name, 'consent-withdrawn');
  });

  it("16: rejects tokens whose consent an administrator withdrew, with the messages of rows 12 and 8'", async () => {
    const { own, client, user } = await ownRealm();
    const asked = { ...client, standardFlowEnabled: true, consentRequired: true };
    const scopeIds = [...client.defaultClientScopeIds, ...client.optionalClientScopeIds];
    const dates = { createdDate: 1, lastUpdatedDate: 1 };
    const consent = { userId: user.id, clientUuid: client.id, scopeIds, ...dates };
    await own.put({ do: 'put', client: asked }, { do: 'putConsent', consent });
    const tokens: (string | undefined)[] = [];
    for (const scope of ['openid', 'openid offline_access']) {
      const { code } = await loginForCode(world, own, { client: asked, user }, { scope });
      const form = { grant_type: 'authorization_code', client_id: 'web', redirect_uri: REDIRECT, code };
      tokens.push((await own.tokens(form)).refresh_token);
    }
    assert.deepEqual(await world.store.removeConsent(user.id, client.id), { removed: true });
    const [online, offline] = tokens;
    assert.deepEqual(
      await refusalOfRefresh(online, {}, own),
      refused("Session doesn't have required client"),
    );
    assert.deepEqual(await refusalOfRefresh(offline, {}, own), refused('Offline user session not found'));
    await own.put({ do: 'put', user: { ...user, enabled: false } });
    assert.deepEqual(await refusalOfRefresh(online, {}, own), refused('User disabled'), 'row 10 is first');
  });

  it('17, 18: rejects the predecessor of the newest token, and an older token, each with its own message', async () => {
    const parent = await realm.login('alice');
    await realm.refresh(parent.refresh_token);
    assert.deepEqual(
      await refusalOfRefresh(parent.refresh_token),
      refused('Maximum allowed refresh token reuse exceeded'),
    );
    const grandparent = await realm.login('alice');
    const next = await realm.refresh(grandparent.refresh_token);
    await realm.refresh(next.refresh_token);
    assert.deepEqual(await refusalOfRefresh(grandparent.refresh_token), refused('Stale token'));
  });
});

describe('the event of a refresh (docs/keycloak/tokens.md#events-of-tokens)', () => {
  it('has both refresh token ids, the age of the old token and the expiry of the access token', async () => {
    const first = await realm.login('alice');
    world.clock.pass(7);
    const second = await realm.refresh(first.refresh_token);
    const event = world.events.at(-1)!;
    assert.equal(event.type, 'REFRESH_TOKEN');
    assert.equal(event.clientId, web.clientId);
    assert.deepEqual(Object.keys(event.details).sort(), [
      'access_token_expiration_time',
      'age_of_refresh_token',
      'client_auth_method',
      'grant_type',
      'refresh_token_id',
      'refresh_token_sub',
      'refresh_token_type',
      'scope',
      'token_id',
      'updated_refresh_token_id',
    ]);
    assert.equal(event.details['age_of_refresh_token'], '7');
    assert.equal(event.details['refresh_token_id'], claimsOf(first.refresh_token)['jti']);
    assert.equal(event.details['updated_refresh_token_id'], claimsOf(second.refresh_token)['jti']);
  });

  it('has the description of a refusal as its reason', async () => {
    await refusalOfRefresh('garbage');
    const event = world.events.at(-1)!;
    assert.deepEqual(
      { type: event.type, error: event.error, details: Object.keys(event.details).sort() },
      {
        type: 'REFRESH_TOKEN_ERROR',
        error: 'invalid_token',
        details: ['client_auth_method', 'grant_type', 'reason'],
      },
    );
  });
});
