import { type Client, expandRoleIds } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes } from './claims-input.ts';
import { preparedFor, withoutScopes } from './scopes.ts';

/**
 * Returns the grant without the scopes that the user may not use. A client scope with roles is for users who have at
 * least one of them, with composites resolved, as in Keycloak 26. That is why `offline_access` needs the realm role
 * `offline_access`. Returns the same object if all scopes stay.
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

/** Users with equal roles get the same grant object, so that the values cached for it are found again. */
const permitted = new WeakMap<GrantedScopes, WeakMap<ReadonlySet<string>, GrantedScopes>>();

/**
 * Returns the roles that a token may name. With full scope these are the user's roles. Without it, only roles of the
 * client itself, of its scope mappings and of the granted client scopes remain, with composites resolved
 * (docs/keycloak/tokens.md#access-token).
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

/** Role names by their owner. Each list is sorted by name. */
export interface RolesByOwner {
  realm: readonly string[];
  clients: ReadonlyMap<string, readonly string[]>;
  ownerUuids: ReadonlySet<string>;
}

const memory = new WeakMap<RealmConfiguration, WeakMap<ReadonlySet<string>, RolesByOwner>>();

/** Groups the roles by owner. The result is cached as long as the set of ids lives. */
export function rolesByOwner(configuration: RealmConfiguration, roleIds: ReadonlySet<string>): RolesByOwner {
  let sets = memory.get(configuration);
  if (sets === undefined) {
    sets = new WeakMap();
    memory.set(configuration, sets);
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
