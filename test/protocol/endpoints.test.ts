import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client, User } from '../../src/model/index.ts';
import {
  discoveryDocument,
  findIssuerRealm,
  introspectToken,
  logoutByRefreshToken,
  publishedKeys,
  realmInfo,
  revokeToken,
  userInfo,
  verifyAccessToken,
} from '../../src/protocol/index.ts';
import {
  BASE_URL,
  claimsOf,
  closePasswords,
  openWorld,
  type RealmInWorld,
  refusalOf,
  type World,
} from './support/world.ts';

let world: World;
let realm: RealmInWorld;
let alice: User;
let names = 0;

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  await realm.client('web', { webOrigins: ['https://web.test'] });
  await realm.client('other');
  await realm.client('light', { attributes: { 'client.use.lightweight.access.token.enabled': 'true' } });
  await realm.client('off', { secret: 'off-secret', enabled: false });
  await realm.client('bearer', { secret: 'bearer-secret', bearerOnly: true });
  alice = await realm.user('alice', { attributes: { phoneNumber: ['+491'] } });
  await withApiInAudience(realm, alice);
});
after(async () => {
  await world.close();
  await closePasswords();
});

/** Client `api`, with a role that puts it into the audience of the user's tokens. */
async function withApiInAudience(where: RealmInWorld, user: User): Promise<Client> {
  const api = await where.client('api', { secret: 'api-secret', serviceAccountsEnabled: true });
  const role = {
    id: `role-${++names}`,
    realmId: where.fixture.realm.id,
    name: 'invoke',
    clientUuid: api.id,
    attributes: {},
    compositeIds: [],
  };
  const roleIds = [...user.roleIds, role.id];
  await where.put({ do: 'create', role }, { do: 'put', user: { ...user, roleIds } });
  return api;
}

const bearer = (token: string | undefined) => ({ authorization: `Bearer ${token}` });
const info = (token: string | undefined, more = {}, where = realm) =>
  userInfo(world.ctx, where.request({}, { ...bearer(token), ...more }));
const revoke = (form: Record<string, string>, more = {}) =>
  revokeToken(world.ctx, realm.request({ client_id: 'web', ...form }, more));
const logout = (form: Record<string, string>, where = realm) =>
  logoutByRefreshToken(world.ctx, where.request({ client_id: 'web', ...form }));
const introspect = async (form: Record<string, string>, more = {}) => {
  const asking = { client_id: 'api', client_secret: 'api-secret' };
  return (await introspectToken(world.ctx, realm.request({ ...asking, ...form }, more))).body;
};
const toldBy = async (work: Promise<unknown>) => {
  const refusal = await refusalOf(work);
  return refusal.description ?? refusal.case;
};

describe('user info (OpenID Connect Core §5.3; facts §5.5)', () => {
  it('answers the claims of the user, `sub` first, for a token with scope openid', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const { body } = await info(access_token);
    assert.equal(Object.keys(body)[0], 'sub');
    assert.equal(body['sub'], alice.id);
    assert.equal(body['email'], 'alice@example.test');
    assert.equal(body['phone_number'], undefined);
  });

  it('answers what optional scopes give', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid phone' });
    assert.equal((await info(access_token)).body['phone_number'], '+491');
  });

  it('takes the token from the form, and the scheme in any case', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const byForm = await userInfo(world.ctx, realm.request({ access_token }));
    assert.equal(byForm.body['sub'], alice.id);
    const lower = { authorization: `bearer ${access_token}` };
    assert.equal((await userInfo(world.ctx, realm.request({}, lower))).body['sub'], alice.id);
  });

  it('refuses a request without a token, and one with two', async () => {
    const none = await refusalOf(userInfo(world.ctx, realm.request({})));
    assert.equal(none.case, 'userinfo-missing-token');
    const basic = { authorization: 'Basic YTpi' };
    assert.equal(
      (await refusalOf(userInfo(world.ctx, realm.request({}, basic)))).case,
      'userinfo-missing-token',
    );
    const both = realm.request({ access_token: 'x' }, bearer('x'));
    assert.equal((await refusalOf(userInfo(world.ctx, both))).case, 'userinfo-doubled');
  });

  it('refuses what is no access token of this realm in force', async () => {
    const { access_token, refresh_token, id_token } = await realm.login('alice', { scope: 'openid' });
    for (const token of ['garbage', `${access_token.slice(0, -8)}AAAAAAAA`, refresh_token, id_token])
      assert.equal(await toldBy(info(token)), 'Token verification failed');
    const elsewhere = await world.realm(`other-${++names}`);
    assert.equal(await toldBy(info(access_token, {}, elsewhere)), 'Token verification failed');
  });

  it('refuses a token without scope openid, and a lightweight one', async () => {
    const { access_token } = await realm.login('alice');
    assert.equal((await refusalOf(info(access_token))).case, 'userinfo-scope');
    const light = await realm.login('alice', { client_id: 'light', scope: 'openid' });
    assert.equal(
      await toldBy(info(light.access_token)),
      'Lightweight access token not allowed for userinfo endpoint',
    );
  });

  it('refuses an expired token', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    world.clock.pass(300);
    assert.equal(await toldBy(info(access_token)), 'Token verification failed');
  });

  it('refuses after logout, after the client left the session, and for a disabled user', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    await logout({ refresh_token: first.refresh_token! });
    assert.equal(await toldBy(info(first.access_token)), 'user_session_not_found');
    const second = await realm.login('alice', { scope: 'openid' });
    await revoke({ token: second.refresh_token! });
    assert.equal(await toldBy(info(second.access_token)), 'user_session_not_found');
    const user = await realm.user(`user-${++names}`);
    const third = await realm.login(user.username, { scope: 'openid' });
    await realm.put({ do: 'put', user: { ...user, enabled: false } });
    assert.equal(await toldBy(info(third.access_token)), 'User disabled');
  });

  it('answers for a service account, which has no session', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'api', client_secret: 'api-secret' };
    const { access_token } = await realm.tokens({ ...form, scope: 'openid' });
    assert.equal((await info(access_token)).body['preferred_username'], 'service-account-api');
  });

  it('answers in a disabled realm (facts §18)', async () => {
    const own = await world.realm(`own-${++names}`);
    await own.client('web');
    await own.user('bob');
    const { access_token } = await own.login('bob', { scope: 'openid' });
    await own.settings({ enabled: false });
    assert.ok((await info(access_token, {}, own)).body['sub']);
  });

  it("lets the client's own origin read the answer and no other", async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const answer = await info(access_token, { origin: 'https://web.test' });
    assert.equal(answer.allowOrigin, 'https://web.test');
    const refusal = await refusalOf(info(access_token, { origin: 'https://evil.test' }));
    assert.equal(refusal.case, 'invalid-origin');
  });
});

describe('revocation (RFC 7009; facts §5.1)', () => {
  it('ends the family of a refresh token and leaves the session alive (contract §5)', async () => {
    const { refresh_token, session_state } = await realm.login('alice');
    await revoke({ token: refresh_token!, token_type_hint: 'access_token' });
    assert.ok(await world.store.findSession(session_state!, false));
    assert.equal(await toldBy(realm.refresh(refresh_token)), 'Token is not active');
  });

  it('takes any token of the family, an older one too, and the newest dies with it', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await revoke({ token: first.refresh_token! });
    assert.equal(await toldBy(realm.refresh(second.refresh_token)), 'Token is not active');
  });

  it('says invalid_token of a token that is none, that is revoked already, or whose session is gone', async () => {
    const { refresh_token } = await realm.login('alice');
    await revoke({ token: refresh_token! });
    for (const token of ['', 'garbage', refresh_token!])
      assert.equal((await refusalOf(revoke({ token }))).case, 'revoke-invalid-token');
    const ended = await realm.login('alice');
    await logout({ refresh_token: ended.refresh_token! });
    assert.equal((await refusalOf(revoke({ token: ended.access_token }))).case, 'revoke-invalid-token');
  });

  it('ends an access token alone, and twice is as good', async () => {
    const { access_token, refresh_token } = await realm.login('alice', { scope: 'openid' });
    await revoke({ token: access_token });
    await revoke({ token: access_token });
    assert.equal(await toldBy(info(access_token)), 'Token verification failed');
    assert.ok((await realm.refresh(refresh_token)).access_token);
  });

  it('refuses a missing token, an ID token, another client and a doubled field', async () => {
    const { refresh_token, id_token } = await realm.login('alice', { scope: 'openid' });
    assert.equal((await refusalOf(revoke({}))).case, 'revoke-missing-token');
    assert.equal((await refusalOf(revoke({ token: id_token! }))).case, 'revoke-unsupported-type');
    const other = revoke({ client_id: 'other', token: refresh_token! });
    assert.equal((await refusalOf(other)).case, 'revoke-other-client');
    const doubled = revoke({ token: refresh_token! }, { duplicated: true });
    assert.equal((await refusalOf(doubled)).case, 'duplicated-parameter');
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('refuses a disabled realm, and a disabled client as an unknown one', async () => {
    const off = await world.realm(`off-${++names}`, { enabled: false });
    const request = off.request({ client_id: 'web', token: 'x' });
    assert.equal((await refusalOf(revokeToken(world.ctx, request))).case, 'realm-not-enabled');
    const disabled = revoke({ client_id: 'off', client_secret: 'off-secret', token: 'x' });
    assert.equal((await refusalOf(disabled)).case, 'client-unknown');
  });

  it('tells the event REVOKE_GRANT', async () => {
    const { refresh_token } = await realm.login('alice');
    await revoke({ token: refresh_token! });
    assert.equal(world.events.at(-1)!.type, 'REVOKE_GRANT');
    assert.equal(world.events.at(-1)!.userId, alice.id);
  });
});

describe('logout by refresh token (spec, "POST …/logout"; facts §5.2)', () => {
  it('ends the session with all of its tokens, by an older token of it too', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await logout({ refresh_token: first.refresh_token! });
    assert.equal(await toldBy(realm.refresh(second.refresh_token)), 'Session not active');
    assert.equal(
      world.events.filter((event) => event.type === 'LOGOUT').at(-1)?.sessionId,
      first.session_state,
    );
  });

  it('is as good where the session is gone or the token expired', async () => {
    const { refresh_token } = await realm.login('alice');
    await logout({ refresh_token: refresh_token! });
    await logout({ refresh_token: refresh_token! });
    const expired = await realm.login('alice');
    world.clock.pass(40_000);
    await logout({ refresh_token: expired.refresh_token! });
  });

  it('works in a disabled realm, for a disabled user, and with the field given twice', async () => {
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

  it('refuses what is no refresh token, and another client’s', async () => {
    const { refresh_token, access_token } = await realm.login('alice');
    assert.equal(await toldBy(logout({ refresh_token: 'garbage' })), 'Invalid refresh token');
    assert.equal(await toldBy(logout({ refresh_token: access_token })), 'Invalid refresh token');
    assert.equal(
      await toldBy(logout({ client_id: 'other', refresh_token: refresh_token! })),
      "Invalid refresh token. Token client and authorized client don't match",
    );
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('leaves the other sessions of the user alone', async () => {
    const [one, two] = [await realm.login('alice'), await realm.login('alice')];
    await logout({ refresh_token: one.refresh_token! });
    assert.ok((await realm.refresh(two.refresh_token)).refresh_token);
  });
});

describe('introspection (RFC 7662; facts §5.4)', () => {
  it('answers the claims of an access token with the asking client in its audience', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const body = await introspect({ token: access_token });
    const claims = claimsOf(access_token);
    for (const name of ['exp', 'iat', 'jti', 'iss', 'sub', 'typ', 'azp', 'sid', 'scope', 'aud'])
      assert.deepEqual(body[name], claims[name], name);
    assert.equal(body['client_id'], 'web');
    assert.equal(body['username'], 'alice');
    assert.equal(body['token_type'], 'Bearer');
    assert.equal(body.active, true);
    assert.equal(body['email'], 'alice@example.test');
  });

  it('is inactive for a client that is not in the audience, its own token among them', async () => {
    const own = await realm.login('alice', { client_id: 'api', client_secret: 'api-secret' });
    assert.deepEqual(await introspect({ token: own.access_token }), { active: false });
    const light = await realm.login('alice', { client_id: 'light' });
    assert.deepEqual(await introspect({ token: light.access_token }), { active: false });
  });

  it('answers for a refresh token with the hint, to its own client alone', async () => {
    const own = await realm.login('alice', { client_id: 'api', client_secret: 'api-secret' });
    const token_type_hint = 'refresh_token';
    const body = await introspect({ token: own.refresh_token!, token_type_hint });
    assert.equal(body.active, true);
    assert.equal(body['typ'], 'Refresh');
    assert.equal(body['token_type'], 'Refresh');
    assert.equal(body['aud'], `${BASE_URL}/realms/acme`);
    assert.deepEqual(await introspect({ token: own.refresh_token! }), { active: false });
    const others = await realm.login('alice');
    assert.deepEqual(await introspect({ token: others.refresh_token!, token_type_hint }), { active: false });
  });

  it('does not use a refresh token up, and is inactive for a used one', async () => {
    const own = { client_id: 'api', client_secret: 'api-secret' };
    const { refresh_token } = await realm.login('alice', own);
    const asked = { token: refresh_token!, token_type_hint: 'refresh_token' };
    assert.equal((await introspect(asked)).active, true);
    await realm.refresh(refresh_token, own);
    assert.equal((await introspect(asked)).active, false);
  });

  it('answers for an ID token of the asking client', async () => {
    const own = await realm.login('alice', {
      client_id: 'api',
      client_secret: 'api-secret',
      scope: 'openid',
    });
    assert.equal((await introspect({ token: own.id_token! })).active, true);
  });

  it('is inactive for whatever is not in force', async () => {
    const { access_token, refresh_token } = await realm.login('alice');
    for (const token of ['', 'garbage', `${access_token.slice(0, -8)}AAAAAAAA`])
      assert.deepEqual(await introspect({ token }), { active: false });
    await logout({ refresh_token: refresh_token! });
    assert.deepEqual(await introspect({ token: access_token }), { active: false });
    const later = await realm.login('alice');
    world.clock.pass(300);
    assert.deepEqual(await introspect({ token: later.access_token }), { active: false });
  });

  it('refuses who may not ask in words of its own, and lets bearer-only clients ask', async () => {
    const ask = async (form: Record<string, string>) => (await refusalOf(introspect(form))).case;
    assert.equal(await ask({ client_id: 'nobody', token: 'x' }), 'introspect-client-unknown');
    const off = { client_id: 'off', client_secret: 'off-secret', token: 'x' };
    assert.equal(await ask(off), 'introspect-client-unknown');
    assert.equal(await ask({ client_secret: 'wrong', token: 'x' }), 'introspect-client-wrong');
    assert.equal(await ask({ client_id: 'web', token: 'x' }), 'introspect-public-client');
    const bearerOnly = { client_id: 'bearer', client_secret: 'bearer-secret', token: 'x' };
    assert.deepEqual(await introspect(bearerOnly), { active: false });
  });

  it('refuses a missing token, an unknown hint and a doubled field', async () => {
    assert.equal((await refusalOf(introspect({}))).case, 'introspect-missing-token');
    const hinted = introspect({ token: 'x', token_type_hint: 'nonsense' });
    assert.equal((await refusalOf(hinted)).case, 'introspect-unsupported-type');
    const doubled = introspect({ token: 'x' }, { duplicated: true });
    assert.equal((await refusalOf(doubled)).case, 'duplicated-parameter');
  });
});

describe('judging access tokens for the administrative API (facts §7.1)', () => {
  const judge = async (token: string) =>
    verifyAccessToken(world.ctx, (await world.store.findRealm('acme'))!, token);

  it('finds the realm that a token says it is from, and none for anything else', async () => {
    const { access_token } = await realm.login('alice');
    assert.equal((await findIssuerRealm(world.ctx, access_token))?.realm.name, 'acme');
    assert.equal(await findIssuerRealm(world.ctx, 'garbage'), undefined);
    const bad = (iss: string) => `e30.${Buffer.from(JSON.stringify({ iss })).toString('base64url')}.x`;
    for (const iss of [
      'https://elsewhere.test/realms/acme',
      `${BASE_URL}/realms/%zz`,
      `${BASE_URL}/realms/x`,
    ])
      assert.equal(await findIssuerRealm(world.ctx, bad(iss)), undefined);
  });

  it('knows the user of a lightweight token by its session, and of a service account by its client', async () => {
    const light = await judge((await realm.login('alice', { client_id: 'light' })).access_token);
    assert.equal(light.outcome === 'active' && light.user.id, alice.id);
    assert.equal(light.outcome === 'active' && light.claims['sub'], undefined);
    const form = { grant_type: 'client_credentials', client_id: 'api', client_secret: 'api-secret' };
    const service = await judge((await realm.tokens(form)).access_token);
    assert.equal(service.outcome === 'active' && service.user.username, 'service-account-api');
    assert.equal(service.outcome === 'active' && service.session, undefined);
  });

  it('judges the token beside an offline token by the offline session', async () => {
    const { access_token, refresh_token } = await realm.login('alice', { scope: 'offline_access' });
    const verdict = await judge(access_token);
    assert.equal(verdict.outcome === 'active' && verdict.session?.offline, true);
    await logout({ refresh_token: refresh_token! });
    assert.deepEqual(await judge(access_token), { outcome: 'refused', reason: 'session-gone' });
  });

  it("refuses tokens older than the realm's notBefore", async () => {
    const own = await world.realm(`own-${++names}`);
    await own.client('web');
    await own.user('bob');
    const { access_token } = await own.login('bob');
    world.clock.pass(1);
    await own.settings({ notBefore: world.clock.now() / 1000 });
    const configuration = (await world.store.findRealm(own.name))!;
    assert.deepEqual(await verifyAccessToken(world.ctx, configuration, access_token), {
      outcome: 'refused',
      reason: 'stale',
    });
  });
});

describe('public documents', () => {
  it('names the endpoints below the issuer, which never comes from a request (facts §5.7)', async () => {
    const document = discoveryDocument(world.ctx, (await world.store.findRealm('acme'))!);
    const issuer = `${BASE_URL}/realms/acme`;
    assert.equal(document['issuer'], issuer);
    assert.equal(document['token_endpoint'], `${issuer}/protocol/openid-connect/token`);
    assert.deepEqual(Object.keys(document).slice(0, 3), [
      'issuer',
      'authorization_endpoint',
      'token_endpoint',
    ]);
    assert.ok((document['scopes_supported'] as string[]).includes('phone'));
  });

  it('publishes keys that verify and no secret part (facts §5.6)', async () => {
    const { keys } = publishedKeys(world.ctx, (await world.store.findRealm('acme'))!);
    const algorithms = keys.map((key) => key['alg']);
    assert.ok(algorithms.includes('RS256') && algorithms.includes('RSA-OAEP'));
    assert.ok(!algorithms.includes('HS512'));
    for (const key of keys) assert.equal(key['d'] ?? key['k'], undefined);
  });

  it('describes the realm with the key that signs (facts §1)', async () => {
    const info = realmInfo(world.ctx, (await world.store.findRealm('acme'))!);
    assert.deepEqual(Object.keys(info), [
      'realm',
      'public_key',
      'token-service',
      'account-service',
      'tokens-not-before',
    ]);
    assert.equal(info['token-service'], `${BASE_URL}/realms/acme/protocol/openid-connect`);
  });
});
