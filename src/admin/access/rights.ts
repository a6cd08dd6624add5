import { effectiveRoleIds, expandRoleIds } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { AdminContext, Caller } from '../call/context.ts';
import { forbidden } from '../call/refusal.ts';
import { type AdminRole, MASTER, managementClientId } from '../defaults/built-in-clients.ts';

/** Maps each right to the roles that grant it. A caller needs one of them. See docs/keycloak/admin-api.md#roles. */
export const RIGHTS = {
  viewRealm: ['view-realm', 'manage-realm'],
  manageRealm: ['manage-realm'],
  viewUsers: ['view-users', 'manage-users'],
  manageUsers: ['manage-users'],
  queryUsers: ['view-users', 'manage-users', 'query-users'],
  viewClients: ['view-clients', 'manage-clients'],
  manageClients: ['manage-clients'],
  createClients: ['manage-clients', 'create-client'],
  queryClients: ['view-clients', 'manage-clients', 'query-clients'],
  viewEvents: ['view-events', 'manage-events'],
  manageEvents: ['manage-events'],
  queryGroups: ['view-users', 'manage-users', 'query-groups'],
  listRoles: ['view-realm', 'manage-realm', 'query-users', 'query-clients', 'query-groups', 'query-realms'],
  viewIdentityProviders: ['view-identity-providers', 'manage-identity-providers'],
} as const satisfies Record<string, readonly AdminRole[]>;

export type Right = keyof typeof RIGHTS;

/** The caller's rights in one realm, computed from the roles that the caller holds now. */
export interface Rights {
  has(right: Right): boolean;
  /** @throws AdminRefusal forbidden */
  check(right: Right): void;
  /** Whether the caller holds any administrative role. */
  any: boolean;
  /**
   * Whether the caller may grant administrative roles, see docs/keycloak/admin-api.md#granting-administrative-roles.
   */
  grantsAdminRoles: boolean;
  /** The names of the administrative roles that the caller holds. */
  roles: ReadonlySet<string>;
}

/** Finds the caller's rights in a realm. Only tokens of this realm and of master grant rights. */
export async function findRights(
  context: AdminContext,
  caller: Caller,
  target: RealmConfiguration,
): Promise<Rights> {
  const isMaster = caller.realmName === MASTER;
  if (!isMaster && caller.realmId !== target.realm.id) return rightsOf(new Set(), false);
  const held = await findHeldRoles(context, caller);
  const clientId = managementClientId(target.realm.name, isMaster ? MASTER : caller.realmName);
  const client = await context.store.findClient(caller.realmId, clientId);
  if (held === undefined || client === undefined) return rightsOf(new Set(), false);
  const names = new Set<string>();
  for (const id of held.ids) {
    const role = held.realm.roles.get(id);
    if (role?.clientUuid === client.id) names.add(role.name);
  }
  const all = isMaster ? hasRealmRole(held, 'admin') : names.has('realm-admin');
  return rightsOf(names, all);
}

/** Reports whether the caller holds a realm role of master, for example `create-realm`. */
export async function holdsMasterRole(context: AdminContext, caller: Caller, name: string): Promise<boolean> {
  if (caller.realmName !== MASTER) return false;
  const held = await findHeldRoles(context, caller);
  return held !== undefined && hasRealmRole(held, name);
}

interface Held {
  realm: RealmConfiguration;
  ids: ReadonlySet<string>;
}

function hasRealmRole(held: Held, name: string): boolean {
  return held.ids.values().some((id) => {
    const role = held.realm.roles.get(id);
    return role !== undefined && role.clientUuid === undefined && role.name === name;
  });
}

/**
 * Finds the roles that the caller holds and that the token may contain: roles in the scope of the token's client, of
 * that client's default scopes, or of the granted optional scopes.
 */
async function findHeldRoles(context: AdminContext, caller: Caller): Promise<Held | undefined> {
  const [realm, user, client] = await Promise.all([
    context.store.findRealmById(caller.realmId),
    context.store.findUser(caller.realmId, caller.userId),
    context.store.findClientByUuid(caller.realmId, caller.clientUuid),
  ]);
  if (realm === undefined || user === undefined || client === undefined || !user.enabled) return undefined;
  const ids = effectiveRoleIds(realm, user);
  if (client.fullScopeAllowed) return { realm, ids };
  const granted = client.optionalClientScopeIds.filter((id) =>
    caller.scopes.has(realm.clientScopes.get(id)?.name ?? ''),
  );
  const scopes = [...client.defaultClientScopeIds, ...granted].flatMap(
    (id) => realm.clientScopes.get(id)?.scopeRoleIds ?? [],
  );
  const allowed = expandRoleIds(realm, [...client.scopeRoleIds, ...scopes]);
  const carried = ids
    .values()
    .filter((id) => allowed.has(id) || realm.roles.get(id)?.clientUuid === client.id);
  return { realm, ids: new Set(carried) };
}

function rightsOf(roles: ReadonlySet<string>, grantsAdminRoles: boolean): Rights {
  const has = (right: Right) => RIGHTS[right].some((role) => roles.has(role));
  return {
    has,
    check(right) {
      if (!has(right)) throw forbidden();
    },
    any: roles.size > 0,
    grantsAdminRoles,
    roles,
  };
}
