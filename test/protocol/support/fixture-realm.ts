import { type Clock, type Random, Secret, uuid } from '../../../src/core/index.ts';
import { ensureAlgorithmKey, freshKeyComponents, newKeyComponent } from '../../../src/crypto/index.ts';
import type {
  Client,
  ClientScope,
  Component,
  ProtocolMapper,
  Realm,
  RealmSettings,
  Role,
  User,
} from '../../../src/model/index.ts';
import type { Change } from '../../../src/store/index.ts';
import { realmSettings } from './realm.ts';

/** The RSA keys of all fixture realms, which share them because generating keys is slow. */
let keys: Promise<readonly Component[]> | undefined;

/** A realm that the test builds, with roles, the default client scopes and keys. */
export interface FixtureRealm {
  realm: Realm;
  roles: { default: Role; offline: Role; reader: Role };
  scopes: readonly ClientScope[];
  components: readonly Component[];
  changes: Change[];
}

/** Builds a realm that can issue tokens, but does not store it. */
export async function fixtureRealm(
  name: string,
  settings: Partial<RealmSettings>,
  tools: { clock: Clock; random: Random },
): Promise<FixtureRealm> {
  const id = uuid(tools.random);
  const role = (roleName: string, compositeIds: string[] = []): Role => ({
    id: uuid(tools.random),
    realmId: id,
    name: roleName,
    attributes: {},
    compositeIds,
  });
  const offline = role('offline_access');
  const reader = role('reader');
  const roles = { default: role(`default-roles-${name}`, [offline.id]), offline, reader };
  const realm: Realm = {
    id,
    name,
    defaultRoleId: roles.default.id,
    settings: realmSettings(settings),
    secrets: {},
  };
  const scopes = fixtureScopes(id, offline.id, tools.random);
  keys ??= makeKeys(tools);
  const shared = (await keys).filter((component) => component.providerId !== 'hmac-generated');
  const config = { priority: ['100'], algorithm: ['HS512'] };
  const made = await newKeyComponent({ ...tools, realm, providerId: 'hmac-generated', config });
  if (made.outcome !== 'made') throw new Error(made.message);
  const components = [
    made.component,
    ...shared.map((component) => ({ ...component, id: uuid(tools.random), realmId: id, parentId: id })),
  ];
  const changes: Change[] = [
    { do: 'create', realm },
    ...[offline, reader, roles.default].map((one) => ({ do: 'create', role: one }) as const),
    ...scopes.map((clientScope) => ({ do: 'create', clientScope }) as const),
    ...components.map((component) => ({ do: 'create', component }) as const),
  ];
  return { realm, roles, scopes, components, changes };
}

async function makeKeys(tools: { clock: Clock; random: Random }): Promise<readonly Component[]> {
  const realm = { id: 'fixture', name: 'fixture' };
  const fresh = await freshKeyComponents({ ...tools, realm });
  const es256 = await ensureAlgorithmKey({ ...tools, realm, components: fresh, algorithm: 'ES256' });
  return es256 === undefined ? fresh : [...fresh, es256];
}

function fixtureScopes(realmId: string, offlineRoleId: string, random: Random): ClientScope[] {
  const everywhere = {
    'access.token.claim': 'true',
    'id.token.claim': 'true',
    'userinfo.token.claim': 'true',
    'introspection.token.claim': 'true',
  };
  const mapper = (protocolMapper: string, config: Record<string, string> = {}): ProtocolMapper => ({
    id: uuid(random),
    name: config['claim.name'] ?? protocolMapper,
    protocol: 'openid-connect',
    protocolMapper,
    config: { ...everywhere, 'jsonType.label': 'String', ...config },
  });
  const attribute = (name: string, claim: string) =>
    mapper('oidc-usermodel-attribute-mapper', { 'user.attribute': name, 'claim.name': claim });
  const scope = (
    name: string,
    kind: 'default' | 'optional' | 'none',
    protocolMappers: ProtocolMapper[],
    more: { hidden?: boolean; scopeRoleIds?: string[] } = {},
  ): ClientScope => ({
    id: uuid(random),
    realmId,
    name,
    protocol: 'openid-connect',
    attributes: { 'include.in.token.scope': more.hidden ? 'false' : 'true' },
    protocolMappers,
    scopeRoleIds: more.scopeRoleIds ?? [],
    realmDefault: kind,
  });
  const note = (name: string) =>
    mapper('oidc-usersessionmodel-note-mapper', { 'user.session.note': name, 'claim.name': name });
  return [
    scope('basic', 'default', [mapper('oidc-sub-mapper')], { hidden: true }),
    scope('acr', 'default', [mapper('oidc-acr-mapper')], { hidden: true }),
    scope('web-origins', 'default', [mapper('oidc-allowed-origins-mapper')], { hidden: true }),
    scope(
      'roles',
      'default',
      [
        mapper('oidc-audience-resolve-mapper'),
        mapper('oidc-usermodel-realm-role-mapper', {
          'claim.name': 'realm_access.roles',
          multivalued: 'true',
          'id.token.claim': 'false',
          'userinfo.token.claim': 'false',
        }),
      ],
      { hidden: true },
    ),
    scope('profile', 'default', [
      mapper('oidc-full-name-mapper'),
      attribute('username', 'preferred_username'),
      attribute('firstName', 'given_name'),
    ]),
    scope('email', 'default', [attribute('email', 'email')]),
    scope('phone', 'optional', [attribute('phoneNumber', 'phone_number')]),
    scope('offline_access', 'optional', [], { scopeRoleIds: [offlineRoleId] }),
    scope('service_account', 'none', [note('client_id'), note('clientHost'), note('clientAddress')], {
      hidden: true,
    }),
  ];
}

/** Builds a client of a fixture realm with all of its scopes. It is public unless it has a secret. */
export function fixtureClient(
  fixture: FixtureRealm,
  clientId: string,
  random: Random,
  changes: Partial<Client> & { secret?: string; rotatedSecret?: string } = {},
): Client {
  const { secret, rotatedSecret, ...fields } = changes;
  const idsOf = (kind: string) =>
    fixture.scopes.filter((scope) => scope.realmDefault === kind).map((scope) => scope.id);
  return {
    id: uuid(random),
    realmId: fixture.realm.id,
    clientId,
    surrogateAuthRequired: false,
    enabled: true,
    alwaysDisplayInConsole: false,
    clientAuthenticatorType: 'client-secret',
    redirectUris: [],
    webOrigins: [],
    notBefore: 0,
    bearerOnly: false,
    consentRequired: false,
    standardFlowEnabled: false,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: true,
    serviceAccountsEnabled: false,
    publicClient: secret === undefined,
    frontchannelLogout: false,
    protocol: 'openid-connect',
    attributes: {},
    authenticationFlowBindingOverrides: {},
    fullScopeAllowed: true,
    nodeReRegistrationTimeout: 0,
    protocolMappers: [],
    defaultClientScopeIds: idsOf('default'),
    optionalClientScopeIds: idsOf('optional'),
    scopeRoleIds: [],
    kept: {},
    secrets: {
      ...(secret === undefined ? {} : { '/secret': new Secret(secret) }),
      ...(rotatedSecret === undefined
        ? {}
        : { '/attributes/client.secret.rotated': new Secret(rotatedSecret) }),
    },
    ...fields,
  };
}

/** Builds a user with the default roles, who needs no required action. */
export function fixtureUser(
  fixture: FixtureRealm,
  username: string,
  random: Random,
  changes: Partial<User> = {},
): User {
  return {
    id: uuid(random),
    realmId: fixture.realm.id,
    username,
    firstName: 'First',
    lastName: 'Last',
    email: `${username}@example.test`,
    emailVerified: true,
    enabled: true,
    createdTimestamp: 0,
    attributes: {},
    requiredActions: [],
    notBefore: 0,
    roleIds: [fixture.roles.default.id],
    groupIds: [],
    kept: {},
    ...changes,
  };
}
