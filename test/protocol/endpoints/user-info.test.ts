import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { discoveryDocument, publishedKeys, realmInfo, userInfo } from '../../../src/protocol/index.ts';
import { bearer, openApiRealm, refusalText } from '../support/api-realm.ts';
import { BASE_URL, refusalOf } from '../support/world.ts';

const { world, realm, alice, info, revoke, logout, close } = await openApiRealm();
let names = 0;
after(close);

describe('user info (OpenID Connect Core §5.3; docs/keycloak/tokens.md#user-info)', () => {
  it("returns the user's claims, `sub` first, for a token with the scope openid", async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const { body } = await info(access_token);
    assert.equal(Object.keys(body)[0], 'sub');
    assert.equal(body['sub'], alice.id);
    assert.equal(body['email'], 'alice@example.test');
    assert.equal(body['phone_number'], undefined);
  });

  it('returns the claims of optional scopes', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid phone' });
    assert.equal((await info(access_token)).body['phone_number'], '+491');
  });

  it('omits claims without a value (OpenID Connect Core §5.3.2)', async () => {
    await realm.user('bare', { attributes: { phoneNumber: [''] } });
    const { access_token } = await realm.login('bare', { scope: 'openid phone' });
    const { body } = await info(access_token);
    assert.equal(body['email'], 'bare@example.test');
    assert.ok(!('phone_number' in body));
  });

  it('accepts the token in a form, and the scheme Bearer in upper or lower case', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const byForm = await userInfo(world.ctx, realm.request({ access_token }));
    assert.equal(byForm.body['sub'], alice.id);
    const lower = { authorization: `bearer ${access_token}` };
    assert.equal((await userInfo(world.ctx, realm.request({}, lower))).body['sub'], alice.id);
  });

  it('rejects a request that has no token or two tokens', async () => {
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

  it('logs a refusal with the client that the token names, if that client exists', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const [header, payload, signature] = access_token.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    for (const [azp, named] of [
      ['web', 'web'],
      ['made-up', undefined],
    ]) {
      const forged = Buffer.from(JSON.stringify({ ...claims, azp, jti: 'another' })).toString('base64url');
      await refusalOf(info(`${header}.${forged}.${signature}`));
      const { type, clientId } = world.events.at(-1)!;
      assert.deepEqual([type, clientId], ['USER_INFO_REQUEST_ERROR', named]);
    }
  });

  it('rejects tokens that are not active access tokens of this realm', async () => {
    const { access_token, refresh_token, id_token } = await realm.login('alice', { scope: 'openid' });
    for (const token of ['garbage', `${access_token.slice(0, -8)}AAAAAAAA`, refresh_token, id_token])
      assert.equal(await refusalText(info(token)), 'Token verification failed');
    const elsewhere = await world.realm(`other-${++names}`);
    assert.equal(await refusalText(info(access_token, {}, elsewhere)), 'Token verification failed');
  });

  it('rejects a lightweight token, and a token without the scope openid', async () => {
    const { access_token } = await realm.login('alice');
    assert.equal((await refusalOf(info(access_token))).case, 'userinfo-scope');
    const light = await realm.login('alice', { client_id: 'light', scope: 'openid' });
    assert.equal(
      await refusalText(info(light.access_token)),
      'Lightweight access token not allowed for userinfo endpoint',
    );
  });

  it('rejects an expired token', async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    world.clock.pass(300);
    assert.equal(await refusalText(info(access_token)), 'Token verification failed');
  });

  it('rejects a token if the user logged out or is disabled, or if the client left the session', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    await logout({ refresh_token: first.refresh_token! });
    assert.equal(await refusalText(info(first.access_token)), 'user_session_not_found');
    const second = await realm.login('alice', { scope: 'openid' });
    await revoke({ token: second.refresh_token! });
    assert.equal(await refusalText(info(second.access_token)), 'user_session_not_found');
    const user = await realm.user(`user-${++names}`);
    const third = await realm.login(user.username, { scope: 'openid' });
    await realm.put({ do: 'put', user: { ...user, enabled: false } });
    assert.equal(await refusalText(info(third.access_token)), 'User disabled');
  });

  it('returns the claims of a service account, which has no session', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'api', client_secret: 'api-secret' };
    const { access_token } = await realm.tokens({ ...form, scope: 'openid' });
    assert.equal((await info(access_token)).body['preferred_username'], 'service-account-api');
  });

  it('works in a disabled realm (docs/keycloak/tokens.md#disabled-realm-or-client)', async () => {
    const own = await world.realm(`own-${++names}`);
    await own.client('web');
    await own.user('bob');
    const { access_token } = await own.login('bob', { scope: 'openid' });
    await own.settings({ enabled: false });
    assert.ok((await info(access_token, {}, own)).body['sub']);
  });

  it("allows only the client's own origin to read the response", async () => {
    const { access_token } = await realm.login('alice', { scope: 'openid' });
    const answer = await info(access_token, { origin: 'https://web.test' });
    assert.equal(answer.allowOrigin, 'https://web.test');
    const refusal = await refusalOf(info(access_token, { origin: 'https://evil.test' }));
    assert.equal(refusal.case, 'invalid-origin');
  });
});

describe('public documents', () => {
  it('discovery names the endpoints below the issuer, independently of the request (docs/keycloak/keys.md#discovery)', async () => {
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

  it('the key set has the keys that verify tokens, without their secret parts (docs/keycloak/keys.md#key-set)', async () => {
    const { keys } = publishedKeys(world.ctx, (await world.store.findRealm('acme'))!);
    const algorithms = keys.map((key) => key['alg']);
    assert.ok(algorithms.includes('RS256') && algorithms.includes('RSA-OAEP'));
    assert.ok(!algorithms.includes('HS512'));
    for (const key of keys) assert.equal(key['d'] ?? key['k'], undefined);
  });

  it('the description of a realm contains the realm’s signing key (docs/keycloak/errors.md#realm-information)', async () => {
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
