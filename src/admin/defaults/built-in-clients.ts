import type { Json } from '../representation/json.ts';
import { mapper } from './built-in-scopes.ts';

/** The realm whose administrators may administer every realm. */
export const MASTER = 'master';

/** Clients that Keycloak refuses to delete, see docs/keycloak/clients.md#built-in-clients. */
export const BUILT_IN_CLIENT_IDS: ReadonlySet<string> = new Set([
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
]);

/** The administrative roles of one realm, see docs/keycloak/admin-api.md#roles. */
export const ADMIN_ROLES = [
  'create-client',
  'impersonation',
  'manage-authorization',
  'manage-clients',
  'manage-events',
  'manage-identity-providers',
  'manage-organizations',
  'manage-realm',
  'manage-users',
  'query-clients',
  'query-groups',
  'query-organizations',
  'query-realms',
  'query-users',
  'view-authorization',
  'view-clients',
  'view-events',
  'view-identity-providers',
  'view-organizations',
  'view-realm',
  'view-users',
] as const;

export type AdminRole = (typeof ADMIN_ROLES)[number];

/** Administrative roles that include other administrative roles. */
const ADMIN_COMPOSITES: Readonly<Partial<Record<AdminRole, readonly AdminRole[]>>> = {
  'view-clients': ['query-clients'],
  'view-users': ['query-users', 'query-groups'],
  'view-organizations': ['query-organizations'],
};

/**
 * Returns the client id of the client that holds the administrative roles for a realm. The client belongs to that realm
 * or to master.
 */
export function managementClientId(realm: string, heldBy: string): string {
  return heldBy === MASTER ? `${realm}-realm` : 'realm-management';
}

/** Returns the clients of a new realm, as Keycloak 26 exports them. See docs/keycloak/clients.md#built-in-clients. */
export function builtInClients(realm: string): readonly Json[] {
  const path = encodeURIComponent(realm);
  const account = {
    rootUrl: `\${authBaseUrl}`,
    baseUrl: `/realms/${path}/account/`,
    redirectUris: [`/realms/${path}/account/*`],
    publicClient: true,
    fullScopeAllowed: false,
  };
  return [
    builtIn('account', { ...account, attributes: { 'post.logout.redirect.uris': '+' } }),
    builtIn('account-console', {
      ...account,
      attributes: { 'post.logout.redirect.uris': '+', 'pkce.code.challenge.method': 'S256' },
      protocolMappers: [mapper('audience resolve', 'oidc-audience-resolve-mapper', {})],
    }),
    builtIn('admin-cli', {
      publicClient: true,
      standardFlowEnabled: false,
      directAccessGrantsEnabled: true,
      attributes: { 'client.use.lightweight.access.token.enabled': 'true' },
    }),
    managementClient('broker', `\${client_broker}`),
    realm === MASTER
      ? managementClient('master-realm', 'master Realm')
      : managementClient('realm-management', `\${client_realm-management}`),
    builtIn('security-admin-console', {
      rootUrl: `\${authAdminUrl}`,
      baseUrl: `/admin/${path}/console/`,
      redirectUris: [`/admin/${path}/console/*`],
      webOrigins: ['+'],
      publicClient: true,
      attributes: {
        'client.use.lightweight.access.token.enabled': 'true',
        'post.logout.redirect.uris': '+',
        'pkce.code.challenge.method': 'S256',
      },
      protocolMappers: [
        mapper('locale', 'oidc-usermodel-attribute-mapper', {
          'introspection.token.claim': 'true',
          'userinfo.token.claim': 'true',
          'user.attribute': 'locale',
          'id.token.claim': 'true',
          'access.token.claim': 'true',
          'claim.name': 'locale',
          'jsonType.label': 'String',
        }),
      ],
    }),
  ];
}

/** Returns a client that exists only for its roles. */
export function managementClient(clientId: string, name: string): Json {
  return {
    clientId,
    name,
    bearerOnly: true,
    fullScopeAllowed: false,
    nodeReRegistrationTimeout: 0,
    attributes: { realm_client: 'true' },
  };
}

/** Returns the roles of the built-in clients. */
export function builtInClientRoles(realm: string): Readonly<Record<string, readonly Json[]>> {
  const management = managementClientId(realm, realm);
  const admin = managementRoles(management);
  if (realm !== MASTER)
    admin.push({
      name: 'realm-admin',
      description: `\${role_realm-admin}`,
      composites: { client: { [management]: ADMIN_ROLES } },
    });
  return {
    account: [
      described('view-profile'),
      { ...described('manage-account'), composites: { client: { account: ['manage-account-links'] } } },
      described('manage-account-links'),
      described('view-applications'),
      described('view-consent'),
      { ...described('manage-consent'), composites: { client: { account: ['view-consent'] } } },
      described('view-groups'),
      described('delete-account'),
    ],
    broker: [described('read-token')],
    [management]: admin,
  };
}

/** Returns the administrative roles as roles of `clientId`, but without `realm-admin`. */
export function managementRoles(clientId: string): Json[] {
  return ADMIN_ROLES.map((name) => {
    const includes = ADMIN_COMPOSITES[name];
    return {
      ...described(name),
      ...(includes === undefined ? {} : { composites: { client: { [clientId]: includes } } }),
    };
  });
}

/** Returns the realm roles of a new realm, without its default role. */
export function builtInRealmRoles(realm: string): readonly Json[] {
  const roles: Json[] = [
    { name: 'offline_access', description: `\${role_offline-access}` },
    described('uma_authorization'),
  ];
  if (realm === MASTER)
    roles.push(
      {
        ...described('admin'),
        composites: { realm: ['create-realm'], client: { 'master-realm': ADMIN_ROLES } },
      },
      described('create-realm'),
    );
  return roles;
}

function builtIn(clientId: string, rest: Json): Json {
  const attributes = { realm_client: 'false', ...(rest['attributes'] as Json) };
  return { clientId, name: `\${client_${clientId}}`, nodeReRegistrationTimeout: 0, ...rest, attributes };
}

function described(name: string): Json {
  return { name, description: `\${role_${name}}` };
}
