import { isJsonObject } from '../../core/index.ts';
import type { Client } from '../../model/index.ts';
import type { RealmCall } from '../call/context.ts';
import { badRequest } from '../call/refusal.ts';
import { type Json, objects } from '../representation/json.ts';
import { Names } from '../representation/names.ts';
import { type GroupPaths, groupIdsByPath } from '../user/group-tree.ts';

/** The ids of the records to which records of a backup refer by name. */
export interface References {
  clients: readonly { id: string; clientId: string }[];
  clientScopes: readonly { id: string; name: string }[];
  /** `client` is the `clientId` of a client role. */
  roles: readonly { id: string; name: string; client?: string }[];
  groups: readonly { id: string; path: string }[];
}

/** The references of a backup in the current realm. */
export interface Resolved {
  /** Maps the names in the backup to the ids of current records. A record that does not exist is not in it. */
  names: Names;
  /** Maps the ids of roles in the backup to those of current roles. */
  roleIds: ReadonlyMap<string, string>;
  groupIds: ReadonlyMap<string, string>;
  /** The current groups by path. */
  byPath: GroupPaths;
  /** Records that have the same name but another id, because they were created again. */
  notes: string[];
}

/** Parses the references of a request. @throws AdminRefusal 400 */
export function readReferences(given: unknown): References {
  if (given !== undefined && !isJsonObject(given)) throw badRequest('references must be an object');
  const list = (name: keyof References, fields: readonly string[]): Json[] => {
    const all = objects(given?.[name]);
    const isWhole = (one: Json) => fields.every((field) => typeof one[field] === 'string');
    if (all.every(isWhole) && all.every(({ client }) => client === undefined || typeof client === 'string'))
      return [...all];
    throw badRequest(`references.${name} must be a list of objects with the texts ${fields.join(' and ')}`);
  };
  return {
    clients: list('clients', ['id', 'clientId']),
    clientScopes: list('clientScopes', ['id', 'name']),
    roles: list('roles', ['id', 'name']),
    groups: list('groups', ['id', 'path']),
  } as unknown as References;
}

/**
 * Finds the current record of each reference: by its id, because a record can have been renamed, else by its name,
 * because it can have been created again.
 *
 * @param clients all clients of the realm
 */
export async function resolveReferences(
  { configuration }: RealmCall,
  { clients: ownClients, clientScopes, roles, groups }: References,
  clients: readonly Client[],
): Promise<Resolved> {
  const notes: string[] = [];
  const ids = clients.map((client) => [client.clientId, client.id] as const);
  const current = Names.of({ ...configuration, groups: new Map() }, ids, () => '');
  const names = Names.of({ ...configuration, groups: new Map() }, ids, () => '');
  const uuids = new Set(clients.map(({ id }) => id));
  const recreated = (what: string) =>
    notes.push(`the ${what} exists with another id, because it was created again; the current one is used`);
  for (const { id, clientId } of ownClients) {
    if (uuids.has(id)) names.clients.set(clientId, id);
    else if (current.clients.has(clientId)) recreated(`client ${clientId}`);
  }
  for (const { id, name } of clientScopes) {
    const scope = configuration.clientScopes.get(id);
    if (scope !== undefined) names.clientScopes.set(name, scope);
    else if (current.clientScopes.has(name)) recreated(`client scope ${name}`);
  }
  const roleIds = new Map<string, string>();
  for (const { id, name, client } of roles) {
    const exists = configuration.roles.has(id);
    const currentId =
      client === undefined ? current.realmRoles.get(name) : current.clientRoles.get(client)?.get(name);
    const found = exists ? id : currentId;
    if (found === undefined) continue;
    roleIds.set(id, found);
    if (!exists) recreated(client === undefined ? `realm role ${name}` : `role ${name} of client ${client}`);
    if (client === undefined) names.realmRoles.set(name, found);
    else names.addClientRole(client, name, found);
  }
  const byPath = await groupIdsByPath(configuration);
  const groupIds = new Map<string, string>();
  for (const { id, path } of groups) {
    const exists = configuration.groups.has(id);
    const found = exists ? id : byPath.get(path);
    if (found === undefined) continue;
    groupIds.set(id, found);
    names.groups.set(path, found);
    if (!exists) recreated(`group ${path}`);
  }
  return { names, roleIds, groupIds, byPath, notes };
}

/** Removes the names of records that do not exist any more, and adds a note for each of them. */
export class KnownNames {
  readonly #names: Names;
  readonly #byPath: GroupPaths;
  readonly #notes: string[];

  constructor({ names, byPath, notes }: Resolved) {
    this.#names = names;
    this.#byPath = byPath;
    this.#notes = notes;
  }

  /** @param owner the record in messages, for example `user alice` */
  realmRoles(given: unknown, owner: string): string[] {
    return this.#keep(given, this.#names.realmRoles, (name) => `realm role ${name}`, owner);
  }

  clientRoles(given: unknown, owner: string): Record<string, string[]> {
    const kept: Record<string, string[]> = {};
    for (const [clientId, list] of Object.entries(isJsonObject(given) ? given : {})) {
      const roles = this.#names.clients.has(clientId) ? this.#names.clientRoles.get(clientId) : undefined;
      const names = this.#keep(
        list,
        roles ?? new Map(),
        (name) => `role ${name} of client ${clientId}`,
        owner,
      );
      if (names.length > 0) kept[clientId] = names;
    }
    return kept;
  }

  groups(given: unknown, owner: string): string[] {
    for (const path of Array.isArray(given) ? (given as unknown[]) : []) {
      const id =
        typeof path === 'string' && !this.#names.groups.has(path) ? this.#byPath.get(path) : undefined;
      if (id !== undefined) this.#names.groups.set(String(path), id);
    }
    return this.#keep(given, this.#names.groups, (path) => `group ${path}`, owner);
  }

  clientScopes(given: unknown, owner: string): string[] {
    const known = new Map<string, unknown>([...this.#names.clientScopes, ...this.#names.clients]);
    return this.#keep(given, known, (name) => `client scope ${name}`, owner);
  }

  /** Returns the consents to clients that exist. */
  consents(given: unknown, owner: string): Json[] {
    return objects(given).flatMap((one) => {
      const clientId = String(one['clientId']);
      if (!this.#names.clients.has(clientId)) {
        this.#notes.push(
          `${owner}: the consent to client ${clientId} is lost, because the client does not exist`,
        );
        return [];
      }
      return [{ ...one, grantedClientScopes: this.clientScopes(one['grantedClientScopes'], owner) }];
    });
  }

  #keep(
    given: unknown,
    known: ReadonlyMap<string, unknown>,
    what: (name: string) => string,
    owner: string,
  ): string[] {
    if (!Array.isArray(given)) return [];
    return (given as unknown[]).filter((name): name is string => {
      if (typeof name !== 'string') return false;
      if (known.has(name)) return true;
      this.#notes.push(`${owner}: the ${what(name)} is lost, because it does not exist`);
      return false;
    });
  }
}
