import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client, User } from '../../../src/model/index.ts';
import { userInfo } from '../../../src/protocol/index.ts';
import { loginForCode, REDIRECT } from '../support/code.ts';
import { claimsOf, closePasswords, openWorld, type RealmInWorld, type World } from '../support/world.ts';

const MAPPER = {
  id: 'mapper',
  name: 'mapper',
  protocol: 'openid-connect',
  config: { 'id.token.claim': 'true', 'userinfo.token.claim': 'true', 'access.token.claim': 'true' },
};
let world: World;
let realm: RealmInWorld;
let web: Client;
let alice: User;

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  web = await realm.client('web', { standardFlowEnabled: true });
  alice = await realm.user('alice');
});
after(async () => {
  await world.close();
  await closePasswords();
});

const login = (request: Parameters<typeof loginForCode>[3], user = alice, client = web) =>
  loginForCode(world, realm, { client, user }, request);
const exchange = (code: string, form: Record<string, string> = {}) =>
  realm.tokens({
    grant_type: 'authorization_code',
    client_id: 'web',
    redirect_uri: REDIRECT,
    code,
    ...form,
  });
const infoOf = (accessToken: string) =>
  userInfo(world.ctx, realm.request({}, { authorization: `Bearer ${accessToken}` }));

describe('the parameter `claims` (OpenID Connect Core §5.5)', () => {
  const claims = JSON.stringify({
    userinfo: { phone_number: { essential: true }, address: null, realm_access: null, sub: null },
    id_token: { nickname: null, phone_number: { value: '+1' }, __proto__: null },
  });
  const person = { attributes: { phoneNumber: ['+49 1'], nickname: ['Al'] } };

  it('adds the named claims to the ID token or to user info, if the client is configured for the parameter `claims`', async () => {
    const asking = { ...MAPPER, protocolMapper: 'oidc-claims-param-token-mapper' };
    const client = await realm.client('asking', { standardFlowEnabled: true, protocolMappers: [asking] });
    const user = await realm.user('dora', person);
    const { code } = await login(
      { claims: claims.replace(',"phone_number":{"value":"+1"}', '') },
      user,
      client,
    );
    const tokens = await exchange(code, { client_id: 'asking' });
    const id = claimsOf(tokens.id_token);
    assert.equal(id['phone_number'], undefined);
    const { body } = await infoOf(tokens.access_token);
    assert.equal(body['phone_number'], '+49 1');
    assert.equal(body['realm_access'], undefined);
    assert.equal(body['nickname'], undefined);
    assert.equal(claimsOf(tokens.access_token)['phone_number'], undefined);
    const later = await realm.refresh(tokens.refresh_token, { client_id: 'asking' });
    assert.equal((await infoOf(later.access_token)).body['phone_number'], '+49 1');
    const { code: other } = await login({ claims }, user, client);
    assert.equal(
      claimsOf((await exchange(other, { client_id: 'asking' })).id_token)['phone_number'],
      '+49 1',
    );
  });

  it('ignores the parameter `claims` if the client is not configured for it, as Keycloak does', async () => {
    const user = await realm.user('emil', person);
    const { code } = await login({ claims }, user);
    const tokens = await exchange(code);
    assert.equal(claimsOf(tokens.id_token)['phone_number'], undefined);
    assert.equal((await infoOf(tokens.access_token)).body['phone_number'], undefined);
  });

  it('accepts an invalid value of the parameter `claims`, and adds no claims', async () => {
    const asking = { ...MAPPER, protocolMapper: 'oidc-claims-param-token-mapper' };
    const client = await realm.client('odd', { standardFlowEnabled: true, protocolMappers: [asking] });
    for (const odd of ['', '{', '[]', '{"userinfo":7,"id_token":[1]}', 'null']) {
      const { code } = await login({ claims: odd }, alice, client);
      assert.ok(await infoOf((await exchange(code, { client_id: 'odd' })).access_token));
    }
  });
});
