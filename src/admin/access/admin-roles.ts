import { type Client, expandRoleIds, type Group, groupsWithParents, type Role } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { RealmCall } from '../call/context.ts';
import { forbidden } from '../call/refusal.ts';
import { ADMIN_ROLES, MASTER } from '../defaults/built-in-clients.ts';

const NAMES: ReadonlySet<string> = new Set<string>([...ADMIN_ROLES, 'realm-admin']);

/** Returns the client that owns a role, or undefined for a realm role. */
export async function clientOfRole(
  { context, configuration, newClients }: RealmCall,
  role: Role,
): Promise<Client | undefined> {
  if (role.clientUuid === undefined) return undefined;
  const created = newClients?.get(role.clientUuid);
  if (created !== undefined) return created;
  return await context.store.findClientByUuid(configuration.realm.id, role.clientUuid);
}

/** Reports whether a role is administrative, see docs/keycloak/admin-api.md#roles. */
export function isAdminRole({ realm }: RealmConfiguration, role: Role, client: Client | undefined): boolean {
  const inMaster = realm.name === MASTER;
  if (client === undefined) return inMaster && (role.name === 'admin' || role.name === 'create-realm');
  return holdsAdminRoles(realm.name, client.clientId) && (!inMaster || NAMES.has(role.name));
}

/**
 * Refuses to create, rename or remove an administrative role unless the caller may grant administrative roles, because
 * rights depend on the names of these roles.
 *
 * @throws AdminRefusal 403
 */
export async function checkNoAdminRole(call: RealmCall, role: Role): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  if (isAdminRole(call.configuration, role, await clientOfRole(call, role))) throw forbidden();
}

/** Reports whether a client with this id defines administrative roles. */
export function holdsAdminRoles(realm: string, clientId: string): boolean {
  return realm === MASTER ? clientId.endsWith('-realm') : clientId === 'realm-management';
}

/**
 * Refuses to grant or revoke a role that is or includes an administrative role, unless the caller may grant
 * administrative roles. Revoking them needs this right since Keycloak 26.8. See
 * docs/keycloak/admin-api.md#granting-administrative-roles.
 *
 * @throws AdminRefusal 403
 */
export async function checkGrants(call: RealmCall, roleIds: readonly string[]): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  for (const id of expandRoleIds(call.configuration, roleIds)) {
    const role = call.configuration.roles.get(id)!;
    if (isAdminRole(call.configuration, role, await clientOfRole(call, role))) throw forbidden();
  }
}

/**
 * Applies `checkGrants` to the roles that members of a group inherit from it and its parents.
 *
 * @throws AdminRefusal 403
 */
export async function checkGroupGrants(call: RealmCall, groupIds: readonly string[]): Promise<void> {
  const groups = groupsWithParents(call.configuration, groupIds);
  await checkGrants(
    call,
    groups.flatMap(({ roleIds }) => roleIds),
  );
}

/** Records that a call is about to create. */
export interface NewRecords {
  clients: ReadonlyMap<string, Client>;
  roles: ReadonlyMap<string, Role>;
  groups: ReadonlyMap<string, Group>;
}

/**
 * Returns the call as if the new records existed, for the checks of this file. Otherwise a role of a new client would
 * not be known as administrative, and a new role would not be known to include others.
 */
export function withNewRecords(call: RealmCall, { clients, roles, groups }: NewRecords): RealmCall {
  if (clients.size === 0 && roles.size === 0 && groups.size === 0) return call;
  const { configuration } = call;
  return {
    ...call,
    newClients: clients,
    configuration: {
      ...configuration,
      roles: new Map([...configuration.roles, ...roles]),
      groups: new Map([...configuration.groups, ...groups]),
    },
  };
}
