import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { findIssuerRealm, verifyAccessToken } from '../../../src/protocol/index.ts';
import { openApiRealm } from '../support/api-realm.ts';
import { BASE_URL, claimsOf, refusalOf } from '../support/world.ts';

const { world, realm, alice, logout, introspect, close } = await openApiRealm();
let names = 0;
after(close);

describe('introspection (RFC 7662; docs/keycloak/tokens.md#introspection)', () => {
  it('returns the claims of an access token if the requesting client is in its audience', async () => {
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

  it('reports a token as inactive to a client outside its audience, even to the client that received it', async () => {
    const own = await realm.login('alice', { client_id: 'api', client_secret: 'api-secret' });
    assert.deepEqual(await introspect({ token: own.access_token }), { active: false });
    const light = await realm.login('alice', { client_id: 'light' });
    assert.deepEqual(await introspect({ token: light.access_token }), { active: false });
  });

  it('returns the claims of a refresh token only to its own client, and only with the right token_type_hint', async () => {
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

  it('does not use up a refresh token, and reports a used one as inactive', async () => {
    const own = { client_id: 'api', client_secret: 'api-secret' };
    const { refresh_token } = await realm.login('alice', own);
    const asked = { token: refresh_token!, token_type_hint: 'refresh_token' };
    assert.equal((await introspect(asked)).active, true);
    await realm.refresh(refresh_token, own);
    assert.equal((await introspect(asked)).active, false);
  });

  it('returns the claims of an ID token to the client that received it', async () => {
    const own = await realm.login('alice', {
      client_id: 'api',
      client_secret: 'api-secret',
      scope: 'openid',
    });
    assert.equal((await introspect({ token: own.id_token! })).active, true);
  });

  it('reports a token as inactive if it is invalid or has expired, or if its session has ended', async () => {
    const { access_token, refresh_token } = await realm.login('alice');
    for (const token of ['', 'garbage', `${access_token.slice(0, -8)}AAAAAAAA`])
      assert.deepEqual(await introspect({ token }), { active: false });
    await logout({ refresh_token: refresh_token! });
    assert.deepEqual(await introspect({ token: access_token }), { active: false });
    const later = await realm.login('alice');
    world.clock.pass(300);
    assert.deepEqual(await introspect({ token: later.access_token }), { active: false });
  });

  it('rejects unauthorized clients with the errors of introspection, and accepts bearer-only clients', async () => {
    const ask = async (form: Record<string, string>) => (await refusalOf(introspect(form))).case;
    assert.equal(await ask({ client_id: 'nobody', token: 'x' }), 'introspect-client-unknown');
    const off = { client_id: 'off', client_secret: 'off-secret', token: 'x' };
    assert.equal(await ask(off), 'introspect-client-unknown');
    assert.equal(await ask({ client_secret: 'wrong', token: 'x' }), 'introspect-client-wrong');
    assert.equal(await ask({ client_id: 'web', token: 'x' }), 'introspect-public-client');
    const bearerOnly = { client_id: 'bearer', client_secret: 'bearer-secret', token: 'x' };
    assert.deepEqual(await introspect(bearerOnly), { active: false });
  });

  it('rejects a missing token, an unknown hint and a repeated field', async () => {
    assert.equal((await refusalOf(introspect({}))).case, 'introspect-missing-token');
    const hinted = introspect({ token: 'x', token_type_hint: 'nonsense' });
    assert.equal((await refusalOf(hinted)).case, 'introspect-unsupported-type');
    const doubled = introspect({ token: 'x' }, { duplicated: true });
    assert.equal((await refusalOf(doubled)).case, 'duplicated-parameter');
  });
});

describe('access tokens for the administrative API', () => {
  const judge = async (token: string) =>
    verifyAccessToken(world.ctx, (await world.store.findRealm('acme'))!, token);

  it('finds the realm that a token names, and returns undefined for text that is not a token', async () => {
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

  it('finds the user of a lightweight token through its session, and that of a service account through its client', async () => {
    const light = await judge((await realm.login('alice', { client_id: 'light' })).access_token);
    assert.equal(light.outcome === 'active' && light.user.id, alice.id);
    assert.equal(light.outcome === 'active' && light.claims['sub'], undefined);
    const form = { grant_type: 'client_credentials', client_id: 'api', client_secret: 'api-secret' };
    const service = await judge((await realm.tokens(form)).access_token);
    assert.equal(service.outcome === 'active' && service.user.username, 'service-account-api');
    assert.equal(service.outcome === 'active' && service.session, undefined);
  });

  it('verifies an access token that was issued with an offline token against the offline session', async () => {
    const { access_token, refresh_token } = await realm.login('alice', { scope: 'offline_access' });
    const verdict = await judge(access_token);
    assert.equal(verdict.outcome === 'active' && verdict.session?.offline, true);
    await logout({ refresh_token: refresh_token! });
    assert.deepEqual(await judge(access_token), { outcome: 'refused', reason: 'session-gone' });
  });

  it("rejects an access token that is older than the realm's notBefore", async () => {
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
