import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client, ProtocolMapper, User } from '../../../src/model/index.ts';
import { idTokenClaims, resolveScopes } from '../../../src/protocol/claims/index.ts';
import { gatherClaims } from '../../../src/protocol/token/issue.ts';
import { Browser, clientAnswer, pageOf, realmWithLogin } from '../../browser/browser.ts';
import { claimsOf, closePasswords, openWorld, type RealmInWorld, type World } from '../support/world.ts';

const LEAN = { 'idkit.lean.id.token': 'true' };
const EVERYWHERE = { 'id.token.claim': 'true', 'access.token.claim': 'true', 'userinfo.token.claim': 'true' };
const emailMapper: ProtocolMapper = {
  id: 'own',
  name: 'own',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-usermodel-attribute-mapper',
  config: { ...EVERYWHERE, 'user.attribute': 'email', 'claim.name': 'email', 'jsonType.label': 'String' },
};

let world: World;
let realm: RealmInWorld;
let user: User;

before(async () => {
  world = await openWorld();
  ({ realm, user } = await realmWithLogin(
    world,
    'acme',
    {},
    { attributes: LEAN, implicitFlowEnabled: true },
  ));
});
after(async () => {
  await world.close();
  await closePasswords();
});

const stamp = { issuer: 'https://id.example.test/realms/acme', jti: 'j', issuedAt: 10, expiresAt: 310 };

/** Returns the claims of an ID token for the client `web` with `changes`, whose only scope maps the e-mail address. */
async function claimsFor(
  changes: Partial<Client>,
  options: { accessToken?: string; notes?: Record<string, string> } = {},
): Promise<Record<string, unknown>> {
  const stored = (await world.store.findRealm('acme'))!;
  const [id, scope] = [...stored.clientScopes][0]!;
  const withMapper = { ...scope, name: 'email', protocol: 'openid-connect', protocolMappers: [emailMapper] };
  const configuration = { ...stored, clientScopes: new Map([[id, withMapper]]) };
  const client = {
    ...(await world.store.findClient(realm.fixture.realm.id, 'web'))!,
    defaultClientScopeIds: [id],
    optionalClientScopeIds: [],
    protocolMappers: [],
    ...changes,
  };
  const scopes = resolveScopes(configuration, client, 'openid');
  assert(scopes.outcome === 'granted');
  const { notes = {}, accessToken } = options;
  const input = await gatherClaims(world.ctx, configuration, {
    client,
    user,
    granted: scopes.granted,
    notes,
  });
  return idTokenClaims(input, stamp, {
    algorithm: 'RS256',
    ...(accessToken === undefined ? {} : { accessToken }),
  });
}

describe('lean ID tokens (client attribute idkit.lean.id.token)', () => {
  const accessToken = 'x.y.z';

  it("a lean ID token omits typ and the scopes' claims about the person (Core §2, §5.4)", async () => {
    const usual = await claimsFor({ attributes: {} }, { accessToken });
    assert.deepEqual([usual.typ, usual.email], ['ID', user.email]);
    const lean = await claimsFor({ attributes: LEAN }, { accessToken });
    assert.deepEqual(
      Object.keys(usual).filter((name) => !(name in lean)),
      ['typ', 'email'],
    );
  });

  it('an ID token is not lean if the client gets no access token with which to request user info (Core §5.4)', async () => {
    assert.equal((await claimsFor({ attributes: LEAN })).email, user.email);
  });

  it("a lean ID token has the claims of the client's own mappers and of the parameter `claims`", async () => {
    const own = await claimsFor({ attributes: LEAN, protocolMappers: [emailMapper] }, { accessToken });
    assert.equal(own.email, user.email);
    const asking = { ...emailMapper, protocolMapper: 'oidc-claims-param-token-mapper' };
    const asked = await claimsFor(
      { attributes: LEAN, protocolMappers: [asking] },
      { accessToken, notes: { claims: '{"id_token":{"email":null}}' } },
    );
    assert.equal(asked.email, user.email);
  });

  it('accepts a lean ID token as id_token_hint, but no other kind of token (Core §3.1.2.1)', async () => {
    const browser = new Browser(world, realm);
    const page = await browser.authorize({ response_type: 'id_token token', nonce: 'n' });
    pageOf(page, 'login');
    const { id_token: idToken, access_token: token } = clientAnswer(await browser.logIn(page, 'alice'));
    assert.equal(claimsOf(idToken)['typ'], undefined);
    const again = (hint: string | undefined) => browser.authorize({ prompt: 'none', id_token_hint: hint });
    assert.ok(clientAnswer(await again(idToken))['code']);
    assert.equal(clientAnswer(await again(token))['error'], 'invalid_request');
    const cookie = browser.cookies.get('KEYCLOAK_IDENTITY')?.[0];
    assert.equal(clientAnswer(await again(cookie))['error'], 'invalid_request');
  });
});
