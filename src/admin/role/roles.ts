import type { Role, User } from '../../model/index.ts';
import type { Range } from '../../store/index.ts';
import { checkGrants, checkNoAdminRole } from '../access/admin-roles.ts';
import type { Right } from '../access/rights.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { type Pages, shown } from '../call/pages.ts';
import { badInput, badRequest, conflict, duplicateResource, forbidden, notFound } from '../call/refusal.ts';
import { type Json, text } from '../representation/json.ts';
import { briefUserRepresentation } from '../user/user-representation.ts';
import { buildRole } from './build-roles.ts';

/** The owner of roles: the realm, or one of its clients. */
export type RoleOwner = { clientUuid: string } | 'realm';

/** Returns the right that an operation on the roles of an owner needs. */
export function roleRight(owner: RoleOwner, what: 'list' | 'view' | 'manage'): Right {
  if (owner === 'realm') return what === 'list' ? 'listRoles' : what === 'view' ? 'viewRealm' : 'manageRealm';
  return what === 'list' ? 'queryClients' : what === 'view' ? 'viewClients' : 'manageClients';
}

function ownerUuid(owner: RoleOwner): string | undefined {
  return owner === 'realm' ? undefined : owner.clientUuid;
}

export function ownerOf(role: Role): RoleOwner {
  return role.clientUuid === undefined ? 'realm' : { clientUuid: role.clientUuid };
}

/** Returns the roles of an owner, sorted by name. */
export function rolesOf({ configuration }: RealmCall, owner: RoleOwner): Role[] {
  const uuid = ownerUuid(owner);
  return [...configuration.roles.values().filter((role) => role.clientUuid === uuid)].sort((one, other) =>
    one.name < other.name ? -1 : 1,
  );
}

/** The query parameters of `GET …/roles`. */
export interface RoleQuery {
  search?: string;
  first?: number;
  max?: number;
  full?: boolean;
}

export function listRoles(call: RealmCall, owner: RoleOwner, query: RoleQuery): Json[] {
  const search = query.search?.toLowerCase() ?? '';
  const matching = rolesOf(call, owner).filter((role) =>
    `${role.name} ${role.description ?? ''}`.toLowerCase().includes(search),
  );
  const first = query.first ?? 0;
  const page = matching.slice(first, query.max === undefined ? undefined : first + query.max);
  return page.map((role) => roleRepresentation(role, query.full ? 'full' : undefined));
}

/** @throws AdminRefusal 404 */
export function getRole(call: RealmCall, owner: RoleOwner, name: string): Role {
  const role = rolesOf(call, owner).find((one) => one.name === name);
  if (role === undefined) throw notFound('Could not find role');
  return role;
}

/** @throws AdminRefusal 404, or 403 if the caller has no administrative role */
export function getRoleById(call: RealmCall, id: string): Role {
  const role = call.configuration.roles.get(id);
  if (role === undefined) {
    if (!call.rights.any) throw forbidden();
    throw notFound('Could not find role with id');
  }
  return role;
}

/** Returns the path of a role below the realm, for admin events and `Location`. */
export function rolePath(role: Role): string {
  const name = encodeURIComponent(role.name);
  return role.clientUuid === undefined ? `roles/${name}` : `clients/${role.clientUuid}/roles/${name}`;
}

/** Creates a role. @throws AdminRefusal */
export async function createRole(call: RealmCall, owner: RoleOwner, given: Json): Promise<Role> {
  const { context, configuration } = call;
  if (given['name'] === undefined || given['name'] === '') throw badInput('role has no name');
  const role = buildRole(given, {
    realmId: configuration.realm.id,
    clientUuid: ownerUuid(owner),
    context,
    path: '$',
  });
  await checkNoAdminRole(call, role);
  const compositeIds = compositesByName(call, given['composites'] as Json | undefined);
  await checkGrants(call, compositeIds);
  await applyChanges(
    call,
    [{ do: 'create', role: { ...role, compositeIds } }],
    {
      operation: 'CREATE',
      resource: owner === 'realm' ? 'REALM_ROLE' : 'CLIENT_ROLE',
      path: rolePath(role),
      representation: given,
    },
    () => conflict(`Role with name ${role.name} already exists`),
  );
  return role;
}

function compositesByName(call: RealmCall, composites: Json | undefined): string[] {
  const wanted = new Set((composites?.['realm'] ?? []) as readonly string[]);
  return rolesOf(call, 'realm')
    .filter((role) => wanted.has(role.name))
    .map(({ id }) => id);
}

/** Changes the given fields of a role. @throws AdminRefusal for renaming the default role of the realm */
export async function updateRole(call: RealmCall, role: Role, given: Json): Promise<void> {
  const name = text(given['name']) || role.name;
  if (role.id === call.configuration.realm.defaultRoleId && name !== role.name)
    throw badRequest(`${role.name} is default role of the realm and cannot be renamed.`);
  const next: Role = {
    ...role,
    name,
    ...(given['description'] === undefined ? {} : { description: text(given['description'])! }),
    ...(given['attributes'] === undefined ? {} : { attributes: given['attributes'] as Role['attributes'] }),
  };
  await checkNoAdminRole(call, role);
  await checkNoAdminRole(call, next);
  await applyChanges(
    call,
    [{ do: 'put', role: next }],
    {
      operation: 'UPDATE',
      resource: role.clientUuid === undefined ? 'REALM_ROLE' : 'CLIENT_ROLE',
      path: rolePath(role),
      representation: given,
    },
    duplicateResource,
  );
}

/** Removes a role. @throws AdminRefusal for the default role of the realm */
export async function deleteRole(call: RealmCall, role: Role): Promise<void> {
  if (role.id === call.configuration.realm.defaultRoleId)
    throw badRequest(`${role.name} is default role of the realm and cannot be removed.`);
  await checkNoAdminRole(call, role);
  await applyChanges(call, [{ do: 'remove', what: 'role', id: role.id }], {
    operation: 'DELETE',
    resource: role.clientUuid === undefined ? 'REALM_ROLE' : 'CLIENT_ROLE',
    path: rolePath(role),
    representation: roleRepresentation(role),
  });
}

/** Finds roles by id, or by name among the roles of `owner`. @throws AdminRefusal 404 with the text `missing` */
export function namedRoles(
  call: RealmCall,
  given: readonly Json[],
  missing: string,
  owner?: RoleOwner,
): Role[] {
  return given.map((one) => {
    const id = text(one['id']);
    const role =
      (id === undefined ? undefined : call.configuration.roles.get(id)) ??
      (owner === undefined || id !== undefined
        ? undefined
        : rolesOf(call, owner).find(({ name }) => name === one['name']));
    const foreign = role !== undefined && owner !== undefined && role.clientUuid !== ownerUuid(owner);
    if (role === undefined || foreign) throw notFound(missing);
    return role;
  });
}

/** Lists the roles that a role includes directly: all of them, or those of one owner. */
export function listComposites(call: RealmCall, role: Role, of?: RoleOwner): Json[] {
  return role.compositeIds.flatMap((id) => {
    const included = call.configuration.roles.get(id);
    if (included === undefined) return [];
    return of !== undefined && included.clientUuid !== ownerUuid(of) ? [] : [roleRepresentation(included)];
  });
}

/** Adds roles to a composite role, or removes them. @throws AdminRefusal */
export async function changeComposites(
  call: RealmCall,
  role: Role,
  given: readonly Json[],
  how: 'add' | 'remove',
): Promise<void> {
  const ids = namedRoles(call, given, 'Could not find composite role').map(({ id }) => id);
  await checkNoAdminRole(call, role);
  await checkGrants(call, ids);
  const others = role.compositeIds.filter((id) => !ids.includes(id));
  const compositeIds = how === 'add' ? [...new Set([...role.compositeIds, ...ids])] : others;
  await applyChanges(call, [{ do: 'put', role: { ...role, compositeIds } }], {
    operation: how === 'add' ? 'CREATE' : 'DELETE',
    resource: role.clientUuid === undefined ? 'REALM_ROLE' : 'CLIENT_ROLE',
    path: `${rolePath(role)}/composites`,
    representation: given,
  });
}

/** Lists the users who have the role directly, except service accounts. */
export function listRoleUsers(call: RealmCall, role: Role, range: Range): Pages {
  const isPerson = (user: User) => user.serviceAccountClientUuid === undefined;
  return shown(call.context.store.roleUserPages(role.id, range), (users) =>
    users.filter(isPerson).map(briefUserRepresentation),
  );
}

/** Returns a role as JSON. `full` adds its attributes, which Keycloak 26 includes when it returns a single role. */
export function roleRepresentation(role: Role, full?: 'full'): Json {
  return {
    id: role.id,
    name: role.name,
    ...(role.description === undefined ? {} : { description: role.description }),
    composite: role.compositeIds.length > 0,
    clientRole: role.clientUuid !== undefined,
    containerId: role.clientUuid ?? role.realmId,
    ...(full ? { attributes: role.attributes } : {}),
  };
}
