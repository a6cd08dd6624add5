import { uuid } from '../../core/index.ts';
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
export function buildRoles(roles: Json, realmId: string, names: Names, context: AdminContext): Role[] {
  const built: { role: Role; given: Json; path: string }[] = [];
  const ids = new Unique('role id');
  const add = (list: unknown, path: string, clientId?: string): void => {
    const unique = new Unique('role name');
    for (const [index, given] of objects(list).entries()) {
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
  add(roles['realm'], '$.roles.realm');
  for (const [clientId, list] of Object.entries((roles['client'] ?? {}) as Json)) {
    const path = `$.roles.client["${clientId}"]`;
    if (objects(list).length > 0) found(names.clients, clientId, path, 'client');
    add(list, path, clientId);
  }
  return built.map(({ role, given, path }) => {
    const composites = given['composites'] as Json | undefined;
    if (composites === undefined) return role;
    const compositeIds = [
      ...names.realmRoleIds(composites['realm'], `${path}.composites.realm`),
      ...names.clientRoleIds(composites['client'], `${path}.composites.client`),
    ];
    return { ...role, compositeIds: [...new Set(compositeIds)] };
  });
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
export function buildGroups(
  given: unknown,
  realmId: string,
  names: Names,
  context: AdminContext,
  defaultGroups: unknown = [],
): Group[] {
  const groups: Group[] = [];
  const add = (list: unknown, path: string, parent?: { id: string; path: string }): void => {
    const unique = new Unique('group name');
    for (const [index, one] of objects(list).entries()) {
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
      add(one['subGroups'], `${at}.subGroups`, { id, path: groupPath });
    }
  };
  add(given, '$.groups');
  const defaults = new Set(
    strings(defaultGroups).map((path, index) => names.groupId(path, `$.defaultGroups[${index}]`)),
  );
  return groups.map((group) => (defaults.has(group.id) ? { ...group, isDefault: true } : group));
}

/**
 * Returns the clients and client scopes with their scope mappings, which are the roles that their tokens may contain.
 *
 * @throws RepresentationFault for an unknown client, scope or role
 */
export function addScopeMappings(
  representation: Json,
  names: Names,
  clients: readonly Client[],
  scopes: readonly ClientScope[],
): { clients: Client[]; scopes: ClientScope[] } {
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
    added.set(id, [...(added.get(id) ?? []), ...roleIds]);
  };
  for (const [index, mapping] of objects(representation['scopeMappings']).entries()) {
    const path = `$.scopeMappings[${index}]`;
    add(mapping, path, names.realmRoleIds(mapping['roles'], `${path}.roles`));
  }
  for (const [clientId, list] of Object.entries((representation['clientScopeMappings'] ?? {}) as Json))
    for (const [index, mapping] of objects(list).entries()) {
      const path = `$.clientScopeMappings["${clientId}"][${index}]`;
      add(mapping, path, names.rolesOfClient(clientId, mapping['roles'], `${path}.roles`));
    }
  const withRoles = <T extends { id: string; scopeRoleIds: readonly string[] }>(record: T): T =>
    added.has(record.id) ? { ...record, scopeRoleIds: [...new Set(added.get(record.id))] } : record;
  return { clients: clients.map(withRoles), scopes: scopes.map(withRoles) };
}
