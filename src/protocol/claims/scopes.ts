import { type Client, type ClientScope, type Consent, expandRoleIds } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes, ScopeResolution } from './claims-input.ts';

/**
 * Maximum number of cached `scope` parameters per client. The cache needs a limit, because callers can send any text.
 */
const REMEMBERED_REQUESTS = 256;

/**
 * Returns the client scopes for a requested `scope`: all default scopes of the client, and the optional ones that the
 * request names (docs/keycloak/tokens.md#scopes). The result includes `openid` only if the request names it. A
 * parameter that is empty or names an unknown scope makes the whole request invalid. If there is no parameter, the
 * result has only the default scopes.
 *
 * Returns the same object for equal requests, as long as the configuration and client objects exist.
 */
export function resolveScopes(
  configuration: RealmConfiguration,
  client: Client,
  requested: string | undefined,
): ScopeResolution {
  const prepared = preparedFor(configuration, client);
  return remembered(prepared.resolutions, `login ${requested ?? '\0'}`, () => {
    const named = namedScopes(requested);
    if (!isAllowed(prepared, named, requested)) return { outcome: 'invalid', names: requested ?? '' };
    const openid = named.includes('openid');
    const optional = named.flatMap((name) => prepared.optional.get(name) ?? []);
    const scopes = [...optional, ...prepared.defaults];
    return { outcome: 'granted', granted: grant(scopes, { openid, showOpenid: openid }) };
  });
}

/**
 * Returns the client scopes for one refresh: the scopes of the token family that the request names, or all of them if
 * it names none (docs/keycloak/tokens.md#refresh). The default scopes always remain. A scope that the client may use
 * but the token family lacks is ignored. If the request omits `openid`, the response omits it too but still has an ID
 * token. `all` keeps the scopes of the original grant.
 *
 * @param familyScope the scopes that the token family stores (`GrantedScopes.all` of the login)
 */
export function resolveRefreshScopes(
  configuration: RealmConfiguration,
  client: Client,
  familyScope: string,
  requested: string | undefined,
): ScopeResolution {
  const prepared = preparedFor(configuration, client);
  return remembered(prepared.resolutions, `refresh ${familyScope}\0${requested ?? '\0'}`, () => {
    const named = namedScopes(requested);
    if (!isAllowed(prepared, named, requested)) return { outcome: 'invalid', names: requested ?? '' };
    const before = namedScopes(familyScope);
    const kept = requested === undefined ? before : before.filter((name) => named.includes(name));
    const optional = kept.flatMap((name) => prepared.optional.get(name) ?? []);
    const openid = before.includes('openid');
    const granted = grant([...optional, ...prepared.defaults], {
      openid,
      showOpenid: kept.includes('openid'),
    });
    return { outcome: 'granted', granted: { ...granted, all: familyScope } };
  });
}

/** Returns the grant without the scopes that `keep` rejects. Returns the same object if it rejects none. */
export function withoutScopes(granted: GrantedScopes, keep: (scope: ClientScope) => boolean): GrantedScopes {
  const scopes = granted.scopes.filter(keep);
  if (scopes.length === granted.scopes.length) return granted;
  const shown = namedScopes(granted.visible).includes('openid');
  return grant(scopes, { openid: granted.openid, showOpenid: shown });
}

function namedScopes(scope: string | undefined): readonly string[] {
  return scope === undefined ? [] : [...new Set(scope.split(' ').filter((name) => name !== ''))];
}

function isAllowed(
  prepared: ReturnType<typeof preparedFor>,
  named: readonly string[],
  requested: string | undefined,
): boolean {
  if (requested === undefined) return true;
  if (named.length === 0) return false;
  return named.every(
    (name) => name === 'openid' || prepared.optional.has(name) || prepared.defaultNames.has(name),
  );
}

function grant(
  scopes: readonly ClientScope[],
  { openid, showOpenid }: { openid: boolean; showOpenid: boolean },
): GrantedScopes {
  const shown = scopes.filter((scope) => scope.attributes['include.in.token.scope'] !== 'false');
  return {
    scopes,
    openid,
    visible: [...(showOpenid ? ['openid'] : []), ...shown.map((scope) => scope.name)].join(' '),
    all: [...(openid ? ['openid'] : []), ...scopes.map((scope) => scope.name)].join(' '),
  };
}

function remembered(
  memory: Map<string, ScopeResolution>,
  key: string,
  resolve: () => ScopeResolution,
): ScopeResolution {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const resolution = resolve();
  if (memory.size >= REMEMBERED_REQUESTS) memory.clear();
  // Rejected requests are not cached, because they can have any length.
  if (resolution.outcome === 'granted') memory.set(key, resolution);
  return resolution;
}

/** Values that are computed once per client, and cached as long as the configuration and client objects exist. */
interface Prepared {
  defaults: readonly ClientScope[];
  defaultNames: ReadonlySet<string>;
  optional: ReadonlyMap<string, ClientScope>;
  resolutions: Map<string, ScopeResolution>;
  /** For each grant of scopes, the roles that its tokens can name if the client lacks full scope. */
  allowedRoles: WeakMap<GrantedScopes, ReadonlySet<string>>;
}

const memory = new WeakMap<RealmConfiguration, WeakMap<Client, Prepared>>();

/** Returns the values that are cached for a client. Skips client scopes of other protocols, such as SAML. */
export function preparedFor(configuration: RealmConfiguration, client: Client): Prepared {
  let clients = memory.get(configuration);
  if (clients === undefined) {
    clients = new WeakMap();
    memory.set(configuration, clients);
  }
  const known = clients.get(client);
  if (known !== undefined) return known;
  const defaults = openidScopes(configuration, client.defaultClientScopeIds);
  const defaultNames = new Set(defaults.map((scope) => scope.name));
  const optional = openidScopes(configuration, client.optionalClientScopeIds);
  const prepared: Prepared = {
    defaults,
    defaultNames,
    optional: new Map(
      optional.filter((scope) => !defaultNames.has(scope.name)).map((scope) => [scope.name, scope]),
    ),
    resolutions: new Map(),
    allowedRoles: new WeakMap(),
  };
  clients.set(client, prepared);
  return prepared;
}

function openidScopes(configuration: RealmConfiguration, ids: readonly string[]): readonly ClientScope[] {
  return ids
    .flatMap((id) => configuration.clientScopes.get(id) ?? [])
    .filter((scope) => scope.protocol === 'openid-connect');
}

/**
 * Returns the scopes of an older token that its client still has, as the text of a `scope` parameter, or undefined if
 * none is left. A token stays usable if its client has lost some of its scopes.
 */
export function keptScopes(
  configuration: RealmConfiguration,
  client: Client,
  scope: string,
): string | undefined {
  const names = new Set(['openid']);
  for (const id of [...client.defaultClientScopeIds, ...client.optionalClientScopeIds]) {
    const name = configuration.clientScopes.get(id)?.name;
    if (name !== undefined) names.add(name);
  }
  const kept = scope.split(' ').filter((name) => names.has(name));
  return kept.length === 0 ? undefined : kept.join(' ');
}

/** Whether the consent page names the scope. Default: true (docs/keycloak/login.md#consent). */
function isShownForConsent(scope: ClientScope): boolean {
  return (scope.attributes['display.on.consent.screen'] ?? 'true') === 'true';
}

/**
 * Returns the granted scopes that the user has not agreed to, if the client requires consent. The consent page lists
 * them. At the token endpoint, such a scope means that the user has withdrawn the consent, so the endpoint rejects the
 * request.
 */
export function missingConsent(
  client: Client,
  scopes: readonly ClientScope[],
  consent: Consent | undefined,
): readonly ClientScope[] {
  if (!client.consentRequired) return [];
  return scopes.filter((scope) => isShownForConsent(scope) && !consent?.scopeIds.includes(scope.id));
}

/**
 * Returns the grant without the scopes that the user may not use. A client scope with roles requires that the user has
 * at least one of them, with composites resolved, as in Keycloak 26. For example, `offline_access` requires the realm
 * role `offline_access`. Returns the same object if all scopes remain.
 *
 * @param effective ids of the user's effective roles
 */
export function permittedScopes(
  configuration: RealmConfiguration,
  granted: GrantedScopes,
  effective: ReadonlySet<string>,
): GrantedScopes {
  let users = permitted.get(granted);
  if (users === undefined) {
    users = new WeakMap();
    permitted.set(granted, users);
  }
  let kept = users.get(effective);
  if (kept === undefined) {
    kept = withoutScopes(granted, (scope) => {
      if (scope.scopeRoleIds.length === 0) return true;
      return !expandRoleIds(configuration, scope.scopeRoleIds).isDisjointFrom(effective);
    });
    users.set(effective, kept);
  }
  return kept;
}

/**
 * The results of `permittedScopes`. Users with equal roles get the same grant object, so that they share the values
 * cached for it.
 */
const permitted = new WeakMap<GrantedScopes, WeakMap<ReadonlySet<string>, GrantedScopes>>();

/**
 * Returns the roles that a token may name. If the client has full scope, these are all roles of the user. Otherwise
 * these are the user's roles that belong to the client, to its scope mappings or to the granted client scopes, with
 * composites resolved (docs/keycloak/tokens.md#access-token).
 *
 * @param effective ids of the user's effective roles
 */
export function narrowRoles(
  configuration: RealmConfiguration,
  client: Client,
  granted: GrantedScopes,
  effective: ReadonlySet<string>,
): ReadonlySet<string> {
  if (client.fullScopeAllowed) return effective;
  const { allowedRoles } = preparedFor(configuration, client);
  let allowed = allowedRoles.get(granted);
  if (allowed === undefined) {
    const own: string[] = [];
    for (const role of configuration.roles.values()) if (role.clientUuid === client.id) own.push(role.id);
    const ofScopes = granted.scopes.flatMap((scope) => scope.scopeRoleIds);
    allowed = expandRoleIds(configuration, [...own, ...client.scopeRoleIds, ...ofScopes]);
    allowedRoles.set(granted, allowed);
  }
  return effective.intersection(allowed);
}

/** Returns the UUIDs of the clients that own any of the roles. `ClaimsInput.clientsByUuid` must contain them. */
export function roleOwners(
  configuration: RealmConfiguration,
  roleIds: ReadonlySet<string>,
): ReadonlySet<string> {
  return rolesByOwner(configuration, roleIds).ownerUuids;
}

/** Role names, grouped by the realm and the clients that own them. Each list is sorted. */
interface RolesByOwner {
  realm: readonly string[];
  clients: ReadonlyMap<string, readonly string[]>;
  ownerUuids: ReadonlySet<string>;
}

const groupedRoles = new WeakMap<RealmConfiguration, WeakMap<ReadonlySet<string>, RolesByOwner>>();

/** Groups the roles by owner. Caches the result as long as the set of ids exists. */
export function rolesByOwner(configuration: RealmConfiguration, roleIds: ReadonlySet<string>): RolesByOwner {
  let sets = groupedRoles.get(configuration);
  if (sets === undefined) {
    sets = new WeakMap();
    groupedRoles.set(configuration, sets);
  }
  const known = sets.get(roleIds);
  if (known !== undefined) return known;
  const realm: string[] = [];
  const clients = new Map<string, string[]>();
  for (const id of roleIds) {
    const role = configuration.roles.get(id);
    if (role === undefined) continue;
    if (role.clientUuid === undefined) {
      realm.push(role.name);
      continue;
    }
    const names = clients.get(role.clientUuid);
    if (names === undefined) clients.set(role.clientUuid, [role.name]);
    else names.push(role.name);
  }
  realm.sort();
  for (const names of clients.values()) names.sort();
  const grouped = { realm, clients, ownerUuids: new Set(clients.keys()) };
  sets.set(roleIds, grouped);
  return grouped;
}
