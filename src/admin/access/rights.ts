import type { RealmConfiguration } from '../../store/index.ts';
import type { AdminContext, Caller } from '../call/context.ts';
import { forbidden } from '../call/refusal.ts';
import { type AdminRole, MASTER, managementClientId } from '../defaults/built-in-clients.ts';
import { findHeldRoles, type HeldRoles } from './held-roles.ts';

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
  if (!isMaster && caller.realmId !== target.realm.id) return NO_RIGHTS;
  const held = await findHeldRoles(context, caller);
  const clientId = managementClientId(target.realm.name, isMaster ? MASTER : caller.realmName);
  const client = await context.store.findClient(caller.realmId, clientId);
  if (held === undefined || client === undefined) return NO_RIGHTS;
  return rightsFrom(held, client.id, isMaster);
}

/**
 * Finds the realms in which the caller has rights, with these rights, sorted by name. The cost depends on the number of
 * clients whose roles the caller holds, and not on the number of roles of all realms.
 */
export async function findRightsByRealm(
  context: AdminContext,
  caller: Caller,
): Promise<ReadonlyMap<string, Rights>> {
  const { store } = context;
  const held = await findHeldRoles(context, caller);
  if (held === undefined) return new Map();
  const isMaster = caller.realmName === MASTER;
  const names = isMaster ? await store.listRealmNames() : [caller.realmName];
  const owners = await findOwners(context, caller, held);
  const byRealm = new Map<string, Rights>();
  for (const name of names) {
    const owner = owners.get(managementClientId(name, caller.realmName));
    const rights = owner === undefined ? NO_RIGHTS : rightsFrom(held, owner, isMaster);
    if (rights.any) byRealm.set(name, rights);
  }
  return byRealm;
}

/** Maximum number of clients that are looked up one by one. */
const FEW = 20;

/** Returns the ids of the clients whose roles the caller holds, by `client_id`. */
async function findOwners(
  { store }: AdminContext,
  { realmId }: Caller,
  held: HeldRoles,
): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  if (held.byOwner.size > FEW) {
    for (const { id, clientId } of await store.listClientIds(realmId))
      if (held.byOwner.has(id)) owners.set(clientId, id);
    return owners;
  }
  for (const uuid of held.byOwner.keys()) {
    const client = uuid === '' ? undefined : await store.findClientByUuid(realmId, uuid);
    if (client !== undefined) owners.set(client.clientId, client.id);
  }
  return owners;
}

/** Reports whether the caller holds a realm role of master, for example `create-realm`. */
export async function holdsMasterRole(context: AdminContext, caller: Caller, name: string): Promise<boolean> {
  if (caller.realmName !== MASTER) return false;
  return (await findHeldRoles(context, caller))?.byOwner.get('')?.has(name) === true;
}

const NO_RIGHTS = rightsOf(new Set(), false);

/** @param owner the id of the client that has the administrative roles of the realm */
function rightsFrom({ byOwner }: HeldRoles, owner: string, isMaster: boolean): Rights {
  const names = byOwner.get(owner) ?? new Set<string>();
  return rightsOf(names, isMaster ? byOwner.get('')?.has('admin') === true : names.has('realm-admin'));
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
