import { mapInSlices, Slices, uuid } from '../../core/index.ts';
import type { Client, ClientScope, Group, Role } from '../../model/index.ts';
import type { AdminContext } from '../call/context.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { defined, type Json, objects, strings, text } from '../representation/json.ts';
import { found, type Names, Unique } from '../representation/names.ts';

type StringLists = Record<string, readonly string[]>;

/**
 * Builds all roles of a realm's representation, resolves their composites, and adds the roles to `names`.
 *
 * @throws RepresentationFault for a missing or duplicate name, and for a composite with an unknown role
 */
export async function buildRoles(
  roles: Json,
  realmId: string,
  names: Names,
  context: AdminContext,
): Promise<Role[]> {
  const slices = new Slices();
  const built: { role: Role; given: Json; path: string }[] = [];
  const ids = new Unique('role id');
  const add = async (list: unknown, path: string, clientId?: string): Promise<void> => {
    const unique = new Unique('role name');
    for (const [index, given] of objects(list).entries()) {
      if (slices.isOver) await slices.pause();
      const at = `${path}[${index}]`;
      const role = buildRole(given, {
        realmId,
        clientUuid: clientId && names.clients.get(clientId),
        context,
        path: at,
      });
      unique.add(role.name, `${at}.name`);
      ids.add(role.id, `${at}.id`);
      if (clientId === undefined) names.realmRoles.set(role.name, role.id);
      else names.addClientRole(clientId, role.name, role.id);
      built.push({ role, given, path: at });
    }
  };
  await add(roles['realm'], '$.roles.realm');
  for (const [clientId, list] of Object.entries((roles['client'] ?? {}) as Json)) {
    const path = `$.roles.client["${clientId}"]`;
    if (objects(list).length > 0) found(names.clients, clientId, path, 'client');
    await add(list, path, clientId);
  }
  const withComposites = ({ role, given, path }: (typeof built)[number]): Role => {
    const composites = given['composites'] as Json | undefined;
    if (composites === undefined) return role;
    const compositeIds = [
      ...names.realmRoleIds(composites['realm'], `${path}.composites.realm`),
      ...names.clientRoleIds(composites['client'], `${path}.composites.client`),
    ];
    return { ...role, compositeIds: [...new Set(compositeIds)] };
  };
  return await mapInSlices(built, withComposites, slices);
}

/** Builds a role without composites. @throws RepresentationFault for a missing name */
export function buildRole(
  given: Json,
  place: { realmId: string; clientUuid?: string | undefined; context: AdminContext; path: string },
): Role {
  const name = text(given['name']);
  if (name === undefined || name === '')
    throw new RepresentationFault(`${place.path}.name`, 'a role needs a name');
  return {
    id: text(given['id']) ?? uuid(place.context.random),
    realmId: place.realmId,
    name,
    ...defined({ description: text(given['description']), clientUuid: place.clientUuid }),
    attributes: (given['attributes'] ?? {}) as StringLists,
    compositeIds: [],
  };
}

/**
 * Builds the tree of groups with their roles, and adds their paths to `names`.
 *
 * @throws RepresentationFault for a group without a name, and for siblings with the same name
 */
export async function buildGroups(
  given: unknown,
  realmId: string,
  names: Names,
  context: AdminContext,
  defaultGroups: unknown = [],
): Promise<Group[]> {
  const slices = new Slices();
  const groups: Group[] = [];
  const add = async (list: unknown, path: string, parent?: { id: string; path: string }): Promise<void> => {
    const unique = new Unique('group name');
    for (const [index, one] of objects(list).entries()) {
      if (slices.isOver) await slices.pause();
      const at = `${path}[${index}]`;
      const name = text(one['name']);
      if (name === undefined || name === '')
        throw new RepresentationFault(`${at}.name`, 'a group needs a name');
      unique.add(name, `${at}.name`);
      const id = text(one['id']) ?? uuid(context.random);
      groups.push({
        id,
        realmId,
        name,
        ...defined({ description: text(one['description']), parentId: parent?.id }),
        attributes: (one['attributes'] ?? {}) as StringLists,
        roleIds: [
          ...names.realmRoleIds(one['realmRoles'], `${at}.realmRoles`),
          ...names.clientRoleIds(one['clientRoles'], `${at}.clientRoles`),
        ],
        isDefault: false,
      });
      const groupPath = `${parent?.path ?? ''}/${name}`;
      names.groups.set(groupPath, id);
      await add(one['subGroups'], `${at}.subGroups`, { id, path: groupPath });
    }
  };
  await add(given, '$.groups');
  const defaults = new Set(
    strings(defaultGroups).map((path, index) => names.groupId(path, `$.defaultGroups[${index}]`)),
  );
  return await mapInSlices(
    groups,
    (group) => (defaults.has(group.id) ? { ...group, isDefault: true } : group),
    slices,
  );
}

/**
 * Returns the clients and client scopes with their scope mappings, which are the roles that their tokens may contain.
 *
 * @throws RepresentationFault for an unknown client, scope or role
 */
export async function addScopeMappings(
  representation: Json,
  names: Names,
  clients: readonly Client[],
  scopes: readonly ClientScope[],
): Promise<{ clients: Client[]; scopes: ClientScope[] }> {
  const slices = new Slices();
  const added = new Map<string, string[]>();
  const add = (mapping: Json, path: string, roleIds: string[]): void => {
    const clientId = text(mapping['client']);
    const scopeName = text(mapping['clientScope'] ?? mapping['clientTemplate']);
    if ((clientId === undefined) === (scopeName === undefined))
      throw new RepresentationFault(path, 'a scope mapping names either a client or a clientScope');
    const id =
      clientId === undefined
        ? found(names.clientScopes, scopeName!, `${path}.clientScope`, 'client scope').id
        : found(names.clients, clientId, `${path}.client`, 'client');
    const ids = added.get(id);
    if (ids === undefined) added.set(id, [...roleIds]);
    else for (const roleId of roleIds) ids.push(roleId);
  };
  for (const [index, mapping] of objects(representation['scopeMappings']).entries()) {
    if (slices.isOver) await slices.pause();
    const path = `$.scopeMappings[${index}]`;
    add(mapping, path, names.realmRoleIds(mapping['roles'], `${path}.roles`));
  }
  for (const [clientId, list] of Object.entries((representation['clientScopeMappings'] ?? {}) as Json))
    for (const [index, mapping] of objects(list).entries()) {
      if (slices.isOver) await slices.pause();
      const path = `$.clientScopeMappings["${clientId}"][${index}]`;
      add(mapping, path, names.rolesOfClient(clientId, mapping['roles'], `${path}.roles`));
    }
  const withRoles = <T extends { id: string; scopeRoleIds: readonly string[] }>(record: T): T =>
    added.has(record.id) ? { ...record, scopeRoleIds: [...new Set(added.get(record.id))] } : record;
  return { clients: clients.map(withRoles), scopes: scopes.map(withRoles) };
}
