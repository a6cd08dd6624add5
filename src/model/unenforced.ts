import { jsonFields } from '../core/index.ts';
import { type Flow, listUnknownSteps, readClientFlow, readFlows } from './authentication-flow.ts';
import type { Client } from './client.ts';
import { parsePasswordPolicy } from './password-policy.ts';
import type { Component, Realm, RealmSettings, Unenforced } from './realm.ts';

const USER_STORAGE = 'org.keycloak.storage.UserStorageProvider';
const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider';
const KEY_PROVIDERS: ReadonlySet<string> = new Set([
  ...['rsa', 'rsa-generated', 'rsa-enc', 'rsa-enc-generated', 'hmac-generated', 'aes-generated'],
  ...['ecdsa-generated', 'eddsa-generated', 'ecdh-generated'],
]);

/**
 * Lists the demands of a realm and its clients that idkit does not enforce (docs/keycloak/tokens.md#demands).
 * `idkit status` and the report of an import show them, and idkit does not issue tokens that would be weaker. A new
 * Keycloak realm has no such demands.
 */
export function listUnenforced(
  configuration: { realm: Realm; components: readonly Component[] },
  clients: readonly Client[],
): readonly Unenforced[] {
  const { realm, components } = configuration;
  const flows = readFlows(realm.settings.kept.authenticationFlows);
  return [
    ...boundFlows(realm.settings, flows),
    ...clientFlow(realm.settings),
    ...identityProviders(realm.settings.kept.identityProviders),
    ...clientPolicies(realm.settings.kept.clientPolicies),
    ...organizations(realm.settings.kept),
    ...passwordPolicy(realm.settings.passwordPolicy),
    ...componentsOf(components),
    ...clients.flatMap((client) => clientDemands(client, flows)),
  ];
}

/**
 * Lists the demands of the direct grant flow and of the browser flow. idkit refuses the logins of a flow that requires
 * more than the password and a second factor that the user has.
 */
function boundFlows({ kept }: RealmSettings, flows: readonly Flow[]): readonly Unenforced[] {
  return [
    ...boundFlow('directGrantFlow', kept.directGrantFlow, 'direct grant', flows, 'direct'),
    ...boundFlow('browserFlow', kept.browserFlow, 'browser', flows, 'browser'),
  ];
}

function boundFlow(
  field: string,
  bound: unknown,
  usual: string,
  flows: readonly Flow[],
  at: 'direct' | 'browser',
): readonly Unenforced[] {
  const alias = typeof bound === 'string' && bound !== '' ? bound : usual;
  const flow = flows.find((one) => one.alias === alias);
  if (flow !== undefined) return flowDemand(flow, flows, at);
  if (alias === usual) return [];
  return [{ path: `$.${field}`, what: `missing authentication flow ${alias}`, refuses: true, at }];
}

function flowDemand(flow: Flow, flows: readonly Flow[], at: 'direct' | 'browser'): readonly Unenforced[] {
  const steps = listUnknownSteps(flow, flows);
  if (steps.length === 0 && flow.builtIn) return [];
  const listed = steps.length === 0 ? '' : `: ${steps.join(', ')}`;
  return [
    {
      path: `$.authenticationFlows[${flow.index}]`,
      what: `${flow.builtIn ? 'changed' : 'custom'} authentication flow ${flow.alias}${listed}`,
      refuses: steps.length > 0,
      at,
    },
  ];
}

/**
 * Lists the client authentication flow if idkit does not run it. idkit then refuses every authentication of a client.
 */
function clientFlow(settings: RealmSettings): readonly Unenforced[] {
  const flow = readClientFlow(settings);
  if (flow.outcome === 'runs') return [];
  return [{ path: flow.path, what: `client authentication flow ${flow.what}`, refuses: true, at: 'clients' }];
}

/** Lists external identity providers. Users cannot log in through them, but can still log in with a password. */
function identityProviders(value: unknown): readonly Unenforced[] {
  return entries(value).map((provider, index) => ({
    path: `$.identityProviders[${index}]`,
    what: `identity provider ${text(provider.alias)}`,
    refuses: false,
  }));
}

/**
 * Lists client policies. idkit issues no tokens, because a policy may forbid the request or demand more of the client.
 */
function clientPolicies(value: unknown): readonly Unenforced[] {
  return entries(jsonFields(value).policies).flatMap((policy, index) =>
    policy.enabled === false
      ? []
      : [
          {
            path: `$.clientPolicies.policies[${index}]`,
            what: `client policy ${text(policy.name)}`,
            refuses: true,
          },
        ],
  );
}

function organizations(kept: RealmSettings['kept']): readonly Unenforced[] {
  return kept.organizationsEnabled === true
    ? [{ path: '$.organizationsEnabled', what: 'organizations', refuses: false }]
    : [];
}

/**
 * Lists unknown entries of the password policy. idkit still issues tokens, because Keycloak has accepted the
 * stored passwords.
 */
function passwordPolicy(policy: string | undefined): readonly Unenforced[] {
  return parsePasswordPolicy(policy).unknown.map((entry) => ({
    path: '$.passwordPolicy',
    what: `password policy ${entry}`,
    refuses: false,
  }));
}

/**
 * Lists user federations and unknown key providers. idkit issues no tokens for federated users, because it cannot ask
 * the external directory whether they are still allowed.
 */
function componentsOf(components: readonly Component[]): readonly Unenforced[] {
  const places = new Map<string, number>();
  return components.flatMap((component): Unenforced[] => {
    const { providerType, providerId, name } = component;
    const index = places.get(providerType) ?? 0;
    places.set(providerType, index + 1);
    const path = `$.components['${providerType}'][${index}]`;
    if (providerType === USER_STORAGE) {
      const enabled = component.config.enabled?.[0] !== 'false';
      return [{ path, what: `user federation ${name} (${providerId})`, refuses: enabled, at: 'users' }];
    }
    if (providerType === KEY_PROVIDER && !KEY_PROVIDERS.has(providerId)) {
      return [{ path, what: `key provider ${name} (${providerId})`, refuses: false }];
    }
    return [];
  });
}

/** Client attributes that bind or encrypt tokens. Without them, tokens would be weaker than the client expects. */
const TOKEN_DEMANDS: Readonly<Record<string, string>> = {
  'dpop.bound.access.tokens': 'tokens bound by DPoP',
  'tls.client.certificate.bound.access.tokens': 'tokens bound to a client certificate',
  'id.token.encrypted.response.alg': 'encrypted ID tokens',
  'user.info.encrypted.response.alg': 'encrypted user info',
};

function clientDemands(client: Client, flows: readonly Flow[]): readonly Unenforced[] {
  const place = `$.clients[?(@.clientId=='${client.clientId}')]`;
  const bound = Object.entries(client.authenticationFlowBindingOverrides).flatMap(([binding, id]) =>
    id === ''
      ? []
      : boundToClient(`${place}.authenticationFlowBindingOverrides.${binding}`, binding, id, flows),
  );
  const attributes = Object.entries(TOKEN_DEMANDS).flatMap(([name, what]) => {
    const value = client.attributes[name] ?? '';
    if (value === '' || value === 'false') return [];
    return [{ path: `${place}.attributes['${name}']`, what, refuses: true }];
  });
  const pairwise = client.protocolMappers
    .filter((mapper) => mapper.protocolMapper === 'oidc-sha256-pairwise-sub-mapper')
    .map((mapper) => ({
      path: `${place}.protocolMappers[?(@.name=='${mapper.name}')]`,
      what: 'pairwise subjects',
      refuses: true,
    }));
  return [...bound, ...attributes, ...pairwise];
}

function boundToClient(
  path: string,
  binding: string,
  id: string,
  flows: readonly Flow[],
): readonly Unenforced[] {
  const flow = flows.find((one) => one.id === id) ?? flows.find((one) => one.alias === id);
  const steps = flow === undefined ? ['missing'] : listUnknownSteps(flow, flows);
  const listed = steps.length === 0 ? '' : `: ${steps.join(', ')}`;
  const what = `authentication flow ${flow?.alias ?? id} for ${binding}${listed}`;
  const at = binding === 'direct_grant' ? 'direct' : binding === 'browser' ? 'browser' : undefined;
  return [{ path, what, refuses: steps.length > 0, ...(at === undefined ? {} : { at }) }];
}

function entries(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(jsonFields) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}
