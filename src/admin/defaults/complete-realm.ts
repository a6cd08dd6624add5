import { type Json, objects, strings, text } from '../representation/json.ts';
import { builtInClientRoles, builtInClients, builtInRealmRoles } from './built-in-clients.ts';
import { BUILT_IN_FLOW_CONFIGS, BUILT_IN_FLOWS, BUILT_IN_REQUIRED_ACTIONS } from './built-in-flows.ts';
import { BUILT_IN_SCOPES, DEFAULT_SCOPES, OPTIONAL_SCOPES } from './built-in-scopes.ts';
import { DEFAULT_SETTINGS } from './default-settings.ts';

/**
 * Adds to a realm representation what Keycloak adds: settings, built-in clients and their roles, realm roles, client
 * scopes and flows. A representation with `clientScopes` gets no built-in scopes. Does not generate keys. See
 * docs/keycloak/realms.md#defaults.
 */
export function completeRealm(given: Json, realm: string): Json {
  const scopes = given['clientScopes'] === undefined;
  const clients = objects(given['clients']);
  const named = new Set(clients.map((client) => client['clientId']));
  const missing = builtInClients(realm).filter((client) => !named.has(client['clientId']));
  const roles = completeRoles(given, realm);
  return {
    ...DEFAULT_SETTINGS,
    authenticationFlows: BUILT_IN_FLOWS,
    authenticatorConfig: BUILT_IN_FLOW_CONFIGS,
    requiredActions: BUILT_IN_REQUIRED_ACTIONS,
    identityProviders: [],
    identityProviderMappers: [],
    ...given,
    attributes: { ...(DEFAULT_SETTINGS['attributes'] as Json), ...(given['attributes'] as Json) },
    browserSecurityHeaders: {
      ...(DEFAULT_SETTINGS['browserSecurityHeaders'] as Json),
      ...(given['browserSecurityHeaders'] as Json),
    },
    roles,
    defaultRole: { name: defaultRoleName(given, realm) },
    clients: [...clients, ...missing],
    ...(scopes ? { clientScopes: BUILT_IN_SCOPES } : {}),
    defaultDefaultClientScopes: joined(
      scopes ? DEFAULT_SCOPES : [],
      strings(given['defaultDefaultClientScopes']),
    ),
    defaultOptionalClientScopes: joined(
      scopes ? OPTIONAL_SCOPES : [],
      strings(given['defaultOptionalClientScopes']),
    ),
    scopeMappings: [
      ...objects(given['scopeMappings']),
      ...(scopes ? [{ clientScope: 'offline_access', roles: ['offline_access'] }] : []),
    ],
    clientScopeMappings: completeClientScopeMappings(given, named),
  };
}

function completeRoles(given: Json, realm: string): Json {
  const roles = given['roles'] as Json | undefined;
  const realmRoles = objects(roles?.['realm']);
  const clientRoles = (roles?.['client'] ?? {}) as Readonly<Record<string, readonly Json[]>>;
  const completeClientRoles: Record<string, readonly Json[]> = { ...clientRoles };
  for (const [clientId, builtIn] of Object.entries(builtInClientRoles(realm)))
    completeClientRoles[clientId] = withMissing(objects(clientRoles[clientId]), builtIn);
  const wanted = [...builtInRealmRoles(realm), defaultRole(given, realm)];
  return { realm: withMissing(realmRoles, wanted), client: completeClientRoles };
}

function withMissing(there: readonly Json[], wanted: readonly Json[]): readonly Json[] {
  const names = new Set(there.map((role) => role['name']));
  return [...there, ...wanted.filter((role) => !names.has(role['name']))];
}

function defaultRoleName(given: Json, realm: string): string {
  return text((given['defaultRole'] as Json | undefined)?.['name']) ?? `default-roles-${realm.toLowerCase()}`;
}

function defaultRole(given: Json, realm: string): Json {
  const named = given['defaultRole'] as Json | undefined;
  return {
    ...(named?.['id'] === undefined ? {} : { id: named['id'] }),
    name: defaultRoleName(given, realm),
    description: `\${role_default-roles}`,
    composites: {
      realm: joined(['offline_access', 'uma_authorization'], strings(given['defaultRoles'])),
      client: { account: ['view-profile', 'manage-account'] },
    },
  };
}

function completeClientScopeMappings(given: Json, named: ReadonlySet<unknown>): Json {
  const mappings = (given['clientScopeMappings'] ?? {}) as Readonly<Record<string, readonly Json[]>>;
  if (named.has('account-console')) return mappings;
  const own = { client: 'account-console', roles: ['manage-account', 'view-groups'] };
  return { ...mappings, account: [...objects(mappings['account']), own] };
}

function joined(first: readonly string[], second: readonly string[]): readonly string[] {
  return [...new Set([...first, ...second])];
}
