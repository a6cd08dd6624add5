import { nearestName } from '../../core/index.ts';
import type { ClientScope, Group, Role } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { RepresentationFault } from './fault.ts';
import { type Json, strings } from './json.ts';

/** The names of one realm's records, by which representations refer to each other. */
export class Names {
  readonly realmRoles = new Map<string, string>();
  readonly clientRoles = new Map<string, Map<string, string>>();
  readonly clients = new Map<string, string>();
  readonly clientScopes = new Map<string, Pick<ClientScope, 'id' | 'protocol' | 'realmDefault'>>();
  readonly groups = new Map<string, string>();

  /** The names of what a realm holds; `clients` are `[clientId, uuid]`. */
  static of(
    there: {
      roles: ReadonlyMap<string, Role>;
      clientScopes: ReadonlyMap<string, ClientScope>;
      groups: ReadonlyMap<string, Group>;
    },
    clients: Iterable<readonly [string, string]>,
    pathOf: (group: Group) => string,
  ): Names {
    const names = new Names();
    const byUuid = new Map<string, string>();
    for (const [clientId, uuid] of clients) {
      names.clients.set(clientId, uuid);
      byUuid.set(uuid, clientId);
    }
    for (const role of there.roles.values()) {
      const clientId = role.clientUuid === undefined ? undefined : byUuid.get(role.clientUuid);
      if (role.clientUuid === undefined) names.realmRoles.set(role.name, role.id);
      else if (clientId !== undefined) names.addClientRole(clientId, role.name, role.id);
    }
    for (const scope of there.clientScopes.values()) names.clientScopes.set(scope.name, scope);
    for (const group of there.groups.values()) names.groups.set(pathOf(group), group.id);
    return names;
  }

  addClientRole(clientId: string, name: string, id: string): void {
    const roles = this.clientRoles.get(clientId) ?? new Map<string, string>();
    roles.set(name, id);
    this.clientRoles.set(clientId, roles);
  }

  /** @throws RepresentationFault where a name is none of the realm's roles */
  realmRoleIds(names: unknown, path: string): string[] {
    return strings(names).map((name, index) =>
      found(this.realmRoles, name, `${path}[${index}]`, 'realm role'),
    );
  }

  /** `byClient` is clientId to role names. @throws RepresentationFault where one is unknown */
  clientRoleIds(byClient: unknown, path: string): string[] {
    return Object.entries((byClient ?? {}) as Json).flatMap(([clientId, names]) => {
      const at = `${path}["${clientId}"]`;
      if (strings(names).length === 0) return [];
      found(this.clients, clientId, at, 'client');
      return this.rolesOfClient(clientId, names, at);
    });
  }

  /** @throws RepresentationFault where a name is none of the client's roles */
  rolesOfClient(clientId: string, names: unknown, path: string): string[] {
    const roles = this.clientRoles.get(clientId) ?? new Map<string, string>();
    return strings(names).map((name, index) =>
      found(roles, name, `${path}[${index}]`, `role of client "${clientId}"`),
    );
  }

  /** Ids of the named client scopes; names that are none are left out, as Keycloak does. */
  clientScopeIds(names: unknown): string[] {
    return strings(names).flatMap((name) => this.clientScopes.get(name)?.id ?? []);
  }

  /** A path with or without its first slash. @throws RepresentationFault where there is no such group */
  groupId(path: string, at: string): string {
    return found(this.groups, path.startsWith('/') ? path : `/${path}`, at, 'group');
  }
}

/** The value of a name that must be there. @throws RepresentationFault with the nearest name that is */
export function found<T>(map: ReadonlyMap<string, T>, name: string, path: string, what: string): T {
  const value = map.get(name);
  if (value !== undefined) return value;
  const near = map.size > 2000 ? undefined : nearestName(name, map.keys());
  const hint = near === undefined ? '' : `, did you mean "${near}"?`;
  throw new RepresentationFault(path, `no ${what} is called "${name}"${hint}`);
}

/** Finds values that are given twice. */
export class Unique {
  readonly #seen = new Map<string, string>();
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  /** @throws RepresentationFault that names both places */
  add(value: string, path: string): void {
    const before = this.#seen.get(value);
    if (before !== undefined)
      throw new RepresentationFault(path, `the ${this.#what} "${value}" is already taken by ${before}`);
    this.#seen.set(value, path);
  }
}

/** Names for the ids of one realm. */
export interface Labels {
  configuration: RealmConfiguration;
  clientIds: ReadonlyMap<string, string>;
}

/** Role ids as names: of the realm, and of clients by clientId. */
export function byName(
  { configuration, clientIds }: Labels,
  ids: readonly string[],
): { realmRoles: string[]; clientRoles: Record<string, string[]> } {
  const realmRoles: string[] = [];
  const clientRoles = new Map<string, string[]>();
  for (const id of ids) {
    const role = configuration.roles.get(id);
    const clientId = role?.clientUuid === undefined ? undefined : clientIds.get(role.clientUuid);
    if (role !== undefined && role.clientUuid === undefined) realmRoles.push(role.name);
    else if (role !== undefined && clientId !== undefined)
      clientRoles.set(clientId, [...(clientRoles.get(clientId) ?? []), role.name]);
  }
  return { realmRoles, clientRoles: Object.fromEntries(clientRoles) };
}
