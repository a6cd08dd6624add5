import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { logoutByRefreshToken, revokeToken } from '../../../src/protocol/index.ts';
import { openApiRealm, refusalText } from '../support/api-realm.ts';
import { refusalOf } from '../support/world.ts';

const { world, realm, alice, info, revoke, logout, close } = await openApiRealm();
let names = 0;
after(close);

describe('revocation (RFC 7009; docs/keycloak/tokens.md#revocation)', () => {
  it('revokes the token family of a refresh token, while the session continues', async () => {
    const { refresh_token, session_state } = await realm.login('alice');
    await revoke({ token: refresh_token!, token_type_hint: 'access_token' });
    assert.ok(await world.store.findSession(session_state!, false));
    assert.equal(await refusalText(realm.refresh(refresh_token)), 'Token is not active');
  });

  it('revokes the whole token family, even if the refresh token is not the newest', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await revoke({ token: first.refresh_token! });
    assert.equal(await refusalText(realm.refresh(second.refresh_token)), 'Token is not active');
  });

  it('responds with invalid_token if the token is invalid or revoked, or if its session has ended', async () => {
    const { refresh_token } = await realm.login('alice');
    await revoke({ token: refresh_token! });
    for (const token of ['', 'garbage', refresh_token!])
      assert.equal((await refusalOf(revoke({ token }))).case, 'revoke-invalid-token');
    const ended = await realm.login('alice');
    await logout({ refresh_token: ended.refresh_token! });
    assert.equal((await refusalOf(revoke({ token: ended.access_token }))).case, 'revoke-invalid-token');
  });

  it('revokes only the access token that it receives, and accepts a second revocation', async () => {
    const { access_token, refresh_token } = await realm.login('alice', { scope: 'openid' });
    await revoke({ token: access_token });
    await revoke({ token: access_token });
    assert.equal(await refusalText(info(access_token)), 'Token verification failed');
    assert.ok((await realm.refresh(refresh_token)).access_token);
  });

  it('rejects a missing token, an ID token, a token of another client and a repeated field', async () => {
    const { refresh_token, id_token } = await realm.login('alice', { scope: 'openid' });
    assert.equal((await refusalOf(revoke({}))).case, 'revoke-missing-token');
    assert.equal((await refusalOf(revoke({ token: id_token! }))).case, 'revoke-unsupported-type');
    const other = revoke({ client_id: 'other', token: refresh_token! });
    assert.equal((await refusalOf(other)).case, 'revoke-other-client');
    const doubled = revoke({ token: refresh_token! }, { duplicated: true });
    assert.equal((await refusalOf(doubled)).case, 'duplicated-parameter');
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('rejects requests in a disabled realm, and rejects a disabled client like an unknown one', async () => {
    const off = await world.realm(`off-${++names}`, { enabled: false });
    const request = off.request({ client_id: 'web', token: 'x' });
    assert.equal((await refusalOf(revokeToken(world.ctx, request))).case, 'realm-not-enabled');
    const disabled = revoke({ client_id: 'off', client_secret: 'off-secret', token: 'x' });
    assert.equal((await refusalOf(disabled)).case, 'client-unknown');
  });

  it('logs the event REVOKE_GRANT', async () => {
    const { refresh_token } = await realm.login('alice');
    await revoke({ token: refresh_token! });
    assert.equal(world.events.at(-1)!.type, 'REVOKE_GRANT');
    assert.equal(world.events.at(-1)!.userId, alice.id);
  });
});

describe('logout with a refresh token (docs/keycloak/logout.md#logout-with-a-refresh-token)', () => {
  it('ends the session with all of its tokens, even if the refresh token is not the newest', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await logout({ refresh_token: first.refresh_token! });
    assert.equal(await refusalText(realm.refresh(second.refresh_token)), 'Session not active');
    assert.equal(
      world.events.filter((event) => event.type === 'LOGOUT').at(-1)?.sessionId,
      first.session_state,
    );
  });

  it('succeeds even if the session has ended or the token has expired', async () => {
    const { refresh_token } = await realm.login('alice');
    await logout({ refresh_token: refresh_token! });
    await logout({ refresh_token: refresh_token! });
    const expired = await realm.login('alice');
    world.clock.pass(40_000);
    await logout({ refresh_token: expired.refresh_token! });
  });

  it('succeeds in a disabled realm, for a disabled user, and with a repeated field', async () => {
    const own = await world.realm(`own-${++names}`);
    await own.client('web');
    const user = await own.user('bob');
    const { refresh_token, session_state } = await own.login('bob');
    await own.put({ do: 'put', user: { ...user, enabled: false } });
    await own.settings({ enabled: false });
    const form = { client_id: 'web', refresh_token: refresh_token! };
    await logoutByRefreshToken(world.ctx, own.request(form, { duplicated: true }));
    assert.equal(await world.store.findSession(session_state!, false), undefined);
  });

  it('rejects text that is not a refresh token, and a token of another client', async () => {
    const { refresh_token, access_token } = await realm.login('alice');
    assert.equal(await refusalText(logout({ refresh_token: 'garbage' })), 'Invalid refresh token');
    assert.equal(await refusalText(logout({ refresh_token: access_token })), 'Invalid refresh token');
    assert.equal(
      await refusalText(logout({ client_id: 'other', refresh_token: refresh_token! })),
      "Invalid refresh token. Token client and authorized client don't match",
    );
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('does not end other sessions of the user', async () => {
    const [one, two] = [await realm.login('alice'), await realm.login('alice')];
    await logout({ refresh_token: one.refresh_token! });
    assert.ok((await realm.refresh(two.refresh_token)).refresh_token);
  });
});
