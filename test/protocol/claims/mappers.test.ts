import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, effectiveRoleIds, type ProtocolMapper, type User } from '../../../src/model/index.ts';
import {
  accessTokenClaims,
  accessTokenId,
  type ClaimsInput,
  type ClaimsTarget,
  idTokenClaims,
  mapClaims,
  refreshTokenClaims,
  resolveScopes,
} from '../../../src/protocol/claims/index.ts';
import { resolveWebOrigins } from '../../../src/protocol/client/origins.ts';
import { GRANTS } from '../../../src/protocol/grants/index.ts';
import { exportedRealm } from './exported-realm.ts';

const { configuration, clients, clientsByUuid, users } = exportedRealm('acme');
const legacy = clients.get('legacy-web')!;
const alice = users.get('alice')!;
const stamp = { issuer: 'https://id.example.test/realms/acme', jti: 'j', issuedAt: 10, expiresAt: 310 };

function mapper(protocolMapper: string, config: Record<string, string>): ProtocolMapper {
  return { id: protocolMapper, name: protocolMapper, protocol: 'openid-connect', protocolMapper, config };
}

/** Returns the claims that these mappers write, for a client without scopes. */
function mapped(
  mappers: ProtocolMapper[],
  change: Partial<Omit<ClaimsInput, 'client'>> & { client?: Partial<Client>; target?: ClaimsTarget } = {},
): Record<string, unknown> {
  const { target = 'access', client: clientChange, ...rest } = change;
  const client: Client = {
    ...legacy,
    defaultClientScopeIds: [],
    optionalClientScopeIds: [],
    fullScopeAllowed: true,
    ...clientChange,
    protocolMappers: mappers,
  };
  const resolution = resolveScopes(configuration, client, undefined);
  assert(resolution.outcome === 'granted');
  const user = change.user ?? alice;
  return mapClaims(target, {
    configuration,
    client,
    user,
    granted: resolution.granted,
    roleIds: effectiveRoleIds(configuration, user),
    notes: {},
    clientsByUuid,
    ...rest,
  });
}

const access = { 'access.token.claim': 'true' };

test('dots in a claim name create nested claims, unless they are escaped', () => {
  const config = { ...access, 'user.attribute': 'username', 'jsonType.label': 'String' };
  assert.deepEqual(
    mapped([
      mapper('oidc-usermodel-attribute-mapper', { ...config, 'claim.name': 'a.b.c' }),
      mapper('oidc-usermodel-property-mapper', { ...config, 'claim.name': 'a.b.d' }),
      mapper('oidc-usermodel-property-mapper', { ...config, 'claim.name': 'https://x\\.test/name' }),
    ]),
    { a: { b: { c: 'alice', d: 'alice' } }, 'https://x.test/name': 'alice' },
  );
});

test('converts a value to the type that the mapper names, and omits the claim if the value does not fit', () => {
  const cases: [string, string, unknown][] = [
    ['String', '5', '5'],
    ['int', '5', 5],
    ['long', '1795240127', 1795240127],
    ['int', 'five', undefined],
    ['long', '99999999999999999999', undefined],
    ['boolean', 'true', true],
    ['boolean', 'TRUE', true],
    ['boolean', 'yes', false],
    ['JSON', '{"a":[1]}', { a: [1] }],
    ['JSON', '{', undefined],
  ];
  for (const [type, value, claim] of cases) {
    const config = { ...access, 'claim.name': 'x', 'claim.value': value, 'jsonType.label': type };
    assert.deepEqual(mapped([mapper('oidc-hardcoded-claim-mapper', config)]).x, claim, `${type} ${value}`);
  }
});

test('maps the first value of an attribute, or all values if the mapper is multivalued', () => {
  const config = { ...access, 'claim.name': 'p', 'user.attribute': 'phone', 'jsonType.label': 'String' };
  assert.equal(mapped([mapper('oidc-usermodel-attribute-mapper', config)]).p, '+1 555 0100');
  const many = { ...config, multivalued: 'true' };
  assert.deepEqual(mapped([mapper('oidc-usermodel-attribute-mapper', many)]).p, [
    '+1 555 0100',
    '+1 555 0101',
  ]);
  const none = { ...config, 'user.attribute': 'nothing' };
  assert.deepEqual(mapped([mapper('oidc-usermodel-attribute-mapper', none)]), {});
});

test("maps an attribute of the user's groups if the user lacks it, and joins all values if the mapper aggregates them", () => {
  const user: User = { ...alice, attributes: { ...alice.attributes, floor: ['1'] } };
  const config = { ...access, 'claim.name': 'f', 'user.attribute': 'floor', multivalued: 'true' };
  const one = mapper('oidc-usermodel-attribute-mapper', config);
  assert.deepEqual(mapped([one]).f, ['2'], 'of the parent group');
  assert.deepEqual(mapped([one], { user }).f, ['1']);
  const all = mapper('oidc-usermodel-attribute-mapper', { ...config, 'aggregate.attrs': 'true' });
  assert.deepEqual(mapped([all], { user }).f, ['1', '2']);
});

test('role mappers list the roles of one client or of all clients, with a prefix', () => {
  const list = { ...access, multivalued: 'true' };
  assert.deepEqual(
    mapped([
      mapper('oidc-usermodel-realm-role-mapper', {
        ...list,
        'claim.name': 'r',
        'usermodel.realmRoleMapping.rolePrefix': 'ROLE_',
      }),
      mapper('oidc-usermodel-client-role-mapper', {
        ...list,
        'claim.name': 'orders',
        'usermodel.clientRoleMapping.clientId': 'orders-api',
      }),
    ]),
    {
      r: [
        ...['ROLE_default-roles-acme', 'ROLE_manager', 'ROLE_offline_access'],
        ...['ROLE_uma_authorization', 'ROLE_user'],
      ],
      orders: ['orders:read', 'orders:write'],
    },
  );
  const joined = mapped([mapper('oidc-usermodel-client-role-mapper', { ...list, 'claim.name': 'all' })]);
  assert.deepEqual((joined.all as string[]).toSorted(), [
    ...['manage-account', 'manage-account-links', 'orders:read', 'orders:write', 'view-profile'],
  ]);
  const dotted: Client = { ...clients.get('orders-api')!, clientId: 'orders.v1' };
  const renamed = new Map(clientsByUuid).set(dotted.id, dotted);
  const perClient = mapper('oidc-usermodel-client-role-mapper', {
    ...list,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Keycloak's placeholder
    'claim.name': 'resource_access.${client_id}.roles',
  });
  assert.deepEqual(
    (mapped([perClient], { clientsByUuid: renamed }).resource_access as Record<string, unknown>)['orders.v1'],
    { roles: ['orders:read', 'orders:write'] },
  );
});

test('role mappers run before mappers that read roles (Keycloak: mapper priorities)', () => {
  const claims = mapped([
    mapper('oidc-usermodel-realm-role-mapper', { ...access, multivalued: 'true', 'claim.name': 'r' }),
    mapper('oidc-audience-resolve-mapper', {}),
    mapper('oidc-role-name-mapper', { role: 'user', 'new.role.name': 'staff' }),
    mapper('oidc-hardcoded-role-mapper', { role: 'extra' }),
    mapper('oidc-hardcoded-role-mapper', { role: 'orders-api.orders:admin' }),
  ]);
  assert.deepEqual((claims.r as string[]).toSorted(), [
    ...['default-roles-acme', 'extra', 'manager', 'offline_access', 'staff', 'uma_authorization'],
  ]);
  assert.deepEqual((claims.aud as string[]).toSorted(), ['account', 'orders-api']);
});

test('omits the client itself from the audience, and writes a single audience as a string (docs/keycloak/tokens.md#access-token)', () => {
  const resolve = mapper('oidc-audience-resolve-mapper', access);
  const owner = clients.get('orders-api')!;
  const { id, clientId } = owner;
  assert.equal(mapped([resolve], { client: { id, clientId } }).aud, 'account');
  const custom = mapper('oidc-audience-mapper', { ...access, 'included.custom.audience': 'urn:x' });
  assert.equal(mapped([custom]).aud, 'urn:x');
  assert.equal(mapped([resolve], { roleIds: new Set() }).aud, undefined);
});

test('maps groups as paths or names, and omits the claim if the user has no group', () => {
  const config = { ...access, 'claim.name': 'g' };
  assert.deepEqual(mapped([mapper('oidc-group-membership-mapper', config)]).g, ['/staff/finance']);
  const names = mapper('oidc-group-membership-mapper', { ...config, 'full.path': 'false' });
  assert.deepEqual(mapped([names]).g, ['finance']);
  assert.deepEqual(mapped([names], { user: users.get('carol-sha256')! }), {});
});

test('the address mapper writes one object with the attributes that the user has (OpenID Connect Core §5.1.1)', () => {
  const one = mapper('oidc-address-mapper', { ...access, 'user.attribute.street': 'road' });
  const user = { ...alice, attributes: { road: ['Main 1'], country: ['DE'] } };
  assert.deepEqual(mapped([one], { user }), { address: { street_address: 'Main 1', country: 'DE' } });
  assert.deepEqual(mapped([one]), {});
});

test('a mapper writes only to the tokens that its flags name; absent flags have the defaults of Keycloak 26', () => {
  const flags = (config: Record<string, string>): ClaimsTarget[] =>
    (['access', 'lightweight', 'id', 'userinfo', 'introspection'] as const).filter((target) => {
      const one = mapper('oidc-hardcoded-claim-mapper', { 'claim.name': 'x', 'claim.value': 'y', ...config });
      return mapped([one], { target }).x === 'y';
    });
  assert.deepEqual(flags({}), []);
  assert.deepEqual(flags({ 'access.token.claim': 'true' }), ['access', 'introspection']);
  assert.deepEqual(flags({ 'id.token.claim': 'true' }), ['id', 'userinfo']);
  assert.deepEqual(flags({ 'id.token.claim': 'true', 'userinfo.token.claim': 'false' }), ['id']);
  assert.deepEqual(flags({ ...access, 'introspection.token.claim': 'false' }), ['access']);
  assert.deepEqual(flags({ 'lightweight.claim': 'true' }), ['lightweight']);
});

test('mappers cannot overwrite claims that idkit itself sets', () => {
  for (const name of [
    'exp',
    'iat',
    'jti',
    'iss',
    'typ',
    'azp',
    'sid',
    'scope',
    '__proto__',
    '__proto__.x',
    'a.__proto__',
    '',
  ]) {
    const config = { ...access, 'claim.name': name, 'claim.value': 'forged' };
    assert.deepEqual(mapped([mapper('oidc-hardcoded-claim-mapper', config)]), {}, name);
  }
  assert.equal(({} as Record<string, unknown>).x, undefined);
});

test('skips a mapper of an unknown type or another protocol', () => {
  const saml = { ...mapper('oidc-full-name-mapper', access), protocol: 'saml' };
  assert.deepEqual(mapped([mapper('script-x.js', access), saml]), {});
});

test('maps notes of the session, and finds AUTH_TIME under the name auth_time', () => {
  const config = {
    ...access,
    'user.session.note': 'AUTH_TIME',
    'claim.name': 'auth_time',
    'jsonType.label': 'long',
  };
  const one = mapper('oidc-usersessionmodel-note-mapper', config);
  assert.deepEqual(mapped([one], { notes: { auth_time: '7' } }), { auth_time: 7 });
  assert.deepEqual(mapped([one]), {});
});

test('acr is the name that the client or the realm gives to the highest level of the login', () => {
  const one = mapper('oidc-acr-mapper', access);
  const acr = (level: string | undefined, attributes: Record<string, string> = {}) =>
    mapped([one], { notes: level === undefined ? {} : { acr: level }, client: { attributes } }).acr;
  assert.equal(acr(undefined), 'silver');
  assert.equal(acr('2'), 'gold');
  assert.equal(acr('0'), '0');
  assert.equal(acr('urn:x'), 'urn:x');
  assert.equal(acr('1', { 'acr.loa.map': '{"bronze":1}' }), 'bronze');
  assert.equal(acr('1', { 'acr.loa.map': 'broken' }), 'silver');
});

test('the web origin + represents the origins of the redirect URIs', () => {
  const origins = (client: Partial<Client>, baseUrl?: string) =>
    resolveWebOrigins({ ...legacy, ...client } as Client, baseUrl);
  assert.deepEqual(origins({ webOrigins: ['https://a.test'], redirectUris: ['https://b.test/x'] }), [
    'https://a.test',
  ]);
  assert.deepEqual(
    origins({
      webOrigins: ['+'],
      redirectUris: ['https://b.test/x', 'https://b.test/y', 'http://c.test:81/*', 'app:/cb', '*'],
    }),
    ['https://b.test', 'http://c.test:81'],
  );
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Keycloak's placeholder
  const console = { webOrigins: ['+'], redirectUris: ['/admin/x/console/*'], rootUrl: '${authAdminUrl}' };
  assert.deepEqual(origins(console, 'https://id.test'), ['https://id.test']);
  assert.deepEqual(origins(console), []);
});

test('lightweight access tokens contain only claims of mappers with the flag for them (docs/keycloak/tokens.md#lightweight-access-tokens)', () => {
  const client = {
    ...clients.get('spa')!,
    attributes: { 'client.use.lightweight.access.token.enabled': 'true' },
  };
  const resolution = resolveScopes(configuration, client, 'openid');
  assert(resolution.outcome === 'granted');
  const { granted } = resolution;
  const roleIds = effectiveRoleIds(configuration, alice);
  const input = { configuration, client, user: alice, granted, roleIds, notes: {}, clientsByUuid };
  assert.deepEqual(Object.keys(accessTokenClaims(input, { ...stamp, sessionId: 's' })), [
    ...['exp', 'iat', 'jti', 'iss', 'typ', 'azp', 'sid', 'scope'],
  ]);
  const id = idTokenClaims(input, stamp, { algorithm: 'RS256' });
  assert.equal(id.sub, alice.id);
  assert.equal(id.name, 'Alice Ärmel');
});

test('at_hash is the left half of the hash of the access token (OpenID Connect Core §3.1.3.6)', () => {
  const client = { ...legacy, protocolMappers: [] };
  const resolution = resolveScopes(configuration, client, 'openid');
  assert(resolution.outcome === 'granted');
  const input: ClaimsInput = {
    configuration,
    client,
    user: alice,
    granted: resolution.granted,
    roleIds: new Set(),
    notes: { nonce: 'n-1' },
    clientsByUuid,
  };
  const claims = (accessToken: string, algorithm: 'RS256' | 'EdDSA') =>
    idTokenClaims(input, stamp, { accessToken, algorithm });
  // This is the example in appendix A.3 of OpenID Connect Core.
  const token = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y';
  assert.equal(claims(token, 'RS256').at_hash, '77QmUPtjPfzWtF2AnpK9RQ');
  assert.equal(Buffer.from(String(claims(token, 'EdDSA').at_hash), 'base64url').length, 32);
  assert.equal(claims(token, 'RS256').nonce, 'n-1');
});

test("a refresh token has Keycloak's claims, and an offline token can lack an expiry (docs/keycloak/tokens.md#refresh-token)", () => {
  const resolution = resolveScopes(configuration, legacy, 'openid');
  assert(resolution.outcome === 'granted');
  const facts = {
    client: legacy,
    userId: alice.id,
    granted: resolution.granted,
    audience: 'account',
    familyId: 'f',
  };
  const { expiresAt: _, ...endless } = stamp;
  const offline = refreshTokenClaims({ ...facts, offline: true }, { ...endless, sessionId: 's' });
  assert.deepEqual(Object.keys(offline), [
    ...['iat', 'jti', 'iss', 'aud', 'sub', 'typ', 'azp', 'sid', 'scope', 'aud_x', 'prov', 'reuse_id'],
  ]);
  assert.equal(offline.typ, 'Offline');
  assert.equal(offline.aud, stamp.issuer);
  const online = refreshTokenClaims({ ...facts, offline: false }, stamp);
  assert.deepEqual([online.typ, online.exp], ['Refresh', 310]);
});

test("the jti of an access token encodes the token's origin (docs/keycloak/tokens.md#access-token)", () => {
  const random = { bytes: (length: number) => Buffer.alloc(length, 7) };
  const id = (
    session: 'online' | 'offline' | 'transient',
    grant: 'password' | 'authorization_code' | 'refresh_token' | 'client_credentials',
  ) =>
    accessTokenId({ session, grant: GRANTS.get(grant)!.shortcut, lightweight: false }, random).replace(
      /:[0-9a-f-]{36}$/,
      '',
    );
  assert.equal(id('online', 'password'), 'onrtro');
  assert.equal(id('online', 'authorization_code'), 'onrtac');
  assert.equal(id('online', 'refresh_token'), 'onrtrt');
  assert.equal(id('offline', 'password'), 'ofrtro');
  assert.equal(id('transient', 'client_credentials'), 'trrtcc');
});

test('user info never contains the level of the login or notes of the session', () => {
  const id = { 'id.token.claim': 'true' };
  const note = mapper('oidc-usersessionmodel-note-mapper', {
    ...id,
    'user.session.note': 'client_id',
    'claim.name': 'client_id',
  });
  const mappers = [mapper('oidc-acr-mapper', id), note];
  const notes = { client_id: 'job' };
  assert.deepEqual(mapped(mappers, { target: 'userinfo', notes }), {});
  assert.deepEqual(mapped(mappers, { target: 'id', notes }), { acr: 'silver', client_id: 'job' });
});
