import { nearestName } from '../../core/index.ts';
import type { ClientScope, Group, Role } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { RepresentationFault } from './fault.ts';
import { type Json, strings } from './json.ts';

/** Maps the names of a realm's records to their ids, because representations refer to records by name. */
export class Names {
  readonly realmRoles = new Map<string, string>();
  readonly clientRoles = new Map<string, Map<string, string>>();
  readonly clients = new Map<string, string>();
  readonly clientScopes = new Map<string, Pick<ClientScope, 'id' | 'protocol' | 'realmDefault'>>();
  readonly groups = new Map<string, string>();

  /** Collects the names of an existing realm. `clients` are pairs of client id and UUID. */
  static of(
    records: {
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
    for (const role of records.roles.values()) {
      const clientId = role.clientUuid === undefined ? undefined : byUuid.get(role.clientUuid);
      if (role.clientUuid === undefined) names.realmRoles.set(role.name, role.id);
      else if (clientId !== undefined) names.addClientRole(clientId, role.name, role.id);
    }
    for (const scope of records.clientScopes.values()) names.clientScopes.set(scope.name, scope);
    for (const group of records.groups.values()) names.groups.set(pathOf(group), group.id);
    return names;
  }

  addClientRole(clientId: string, name: string, id: string): void {
    const roles = this.clientRoles.get(clientId) ?? new Map<string, string>();
    roles.set(name, id);
    this.clientRoles.set(clientId, roles);
  }

  /** @throws RepresentationFault for an unknown realm role */
  realmRoleIds(names: unknown, path: string): string[] {
    return strings(names).map((name, index) =>
      found(this.realmRoles, name, `${path}[${index}]`, 'realm role'),
    );
  }

  /** `byClient` maps client ids to role names. @throws RepresentationFault for an unknown client or role */
  clientRoleIds(byClient: unknown, path: string): string[] {
    return Object.entries((byClient ?? {}) as Json).flatMap(([clientId, names]) => {
      const at = `${path}["${clientId}"]`;
      if (strings(names).length === 0) return [];
      found(this.clients, clientId, at, 'client');
      return this.rolesOfClient(clientId, names, at);
    });
  }

  /** @throws RepresentationFault for an unknown role of the client */
  rolesOfClient(clientId: string, names: unknown, path: string): string[] {
    const roles = this.clientRoles.get(clientId) ?? new Map<string, string>();
    return strings(names).map((name, index) =>
      found(roles, name, `${path}[${index}]`, `role of client "${clientId}"`),
    );
  }

  /** Returns the ids of client scopes. Ignores unknown names, as Keycloak does. */
  clientScopeIds(names: unknown): string[] {
    return strings(names).flatMap((name) => this.clientScopes.get(name)?.id ?? []);
  }

  /**
   * @param path with or without its leading slash
   * @throws RepresentationFault for an unknown group
   */
  groupId(path: string, at: string): string {
    return found(this.groups, path.startsWith('/') ? path : `/${path}`, at, 'group');
  }
}

/** Looks up a name in `map`. @throws RepresentationFault for an unknown name, with the most similar known name */
export function found<T>(map: ReadonlyMap<string, T>, name: string, path: string, what: string): T {
  const value = map.get(name);
  if (value !== undefined) return value;
  const near = map.size > 2000 ? undefined : nearestName(name, map.keys());
  const hint = near === undefined ? '' : `, did you mean "${near}"?`;
  throw new RepresentationFault(path, `no ${what} is called "${name}"${hint}`);
}

/** Refuses duplicate values. */
export class Unique {
  readonly #seen = new Map<string, string>();
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  /** @throws RepresentationFault for a duplicate value, with the paths of both */
  add(value: string, path: string): void {
    const before = this.#seen.get(value);
    if (before !== undefined)
      throw new RepresentationFault(path, `the ${this.#what} "${value}" is used by ${before} already`);
    this.#seen.set(value, path);
  }
}

/** The records in which `byName` looks up ids. */
export interface Labels {
  configuration: RealmConfiguration;
  clientIds: ReadonlyMap<string, string>;
}

/** Returns the names of roles: realm roles, and client roles by client id. */
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
