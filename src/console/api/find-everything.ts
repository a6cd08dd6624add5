import { address } from '../address/address.ts';
import { type AdminApi, AdminFault, path } from './admin-api.ts';
import type { Client, Realm, Role, User } from './representations.ts';

export type FoundKind = 'realm' | 'user' | 'group' | 'client' | 'role';

/** A record that a search found. */
export interface Found {
  kind: FoundKind;
  title: string;
  /** What distinguishes it from records with the same title. */
  detail: string;
  /** The address of its screen. */
  address: string;
}

export interface Everything {
  results: readonly Found[];
  /** What the search left out, and why. */
  notes: readonly string[];
}

/** Maximum number of results of one kind in one realm. */
const EACH = 5;
/** Maximum number of realms that one search visits. */
const REALMS = 10;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface FoundGroup {
  id: string;
  name: string;
  path?: string;
  subGroups?: readonly FoundGroup[];
}

/**
 * Finds realms by name, and users, groups, clients and roles by name or id.
 *
 * @param realms all realms that the user administers
 * @param realm the realm to search. Without it, the first realms are searched.
 * @throws AdminFault if the service is unreachable
 */
export async function findEverything(
  api: Pick<AdminApi, 'get'>,
  realms: readonly Realm[],
  realm: string | undefined,
  text: string,
): Promise<Everything> {
  const wanted = text.toLowerCase();
  const named = realms
    .filter(
      (one) => `${one.realm} ${one.displayName ?? ''}`.toLowerCase().includes(wanted) || one.id === wanted,
    )
    .slice(0, EACH)
    .map(
      (one): Found => ({
        kind: 'realm',
        title: one.realm,
        detail: one.displayName ?? '',
        address: address`/${one.realm}/users`,
      }),
    );
  const visited = realm === undefined ? realms.slice(0, REALMS).map((one) => one.realm) : [realm];
  const notes = new Set<string>();
  if (realm === undefined && realms.length > REALMS)
    notes.add(`Searched the first ${REALMS} of ${realms.length} realms. Open a realm to search it.`);
  const lists = await Promise.all(visited.map((name) => findInRealm(api, name, text, notes)));
  return { results: [...named, ...lists.flat()], notes: [...notes] };
}

async function findInRealm(
  api: Pick<AdminApi, 'get'>,
  realm: string,
  text: string,
  notes: Set<string>,
): Promise<readonly Found[]> {
  const isId = UUID.test(text);
  const kinds: readonly (readonly [kinds: string, find: () => Promise<readonly Found[]>])[] = [
    ['users', () => findUsers(api, realm, isId ? `id:${text}` : text)],
    ['groups', () => (isId ? findGroup(api, realm, text) : findGroups(api, realm, text))],
    ['clients', () => (isId ? findClient(api, realm, text) : findClients(api, realm, text))],
    ['roles', () => (isId ? findRole(api, realm, text) : findRoles(api, realm, text))],
  ];
  const lists = await Promise.all(
    kinds.map(async ([name, find]) => {
      try {
        return await find();
      } catch (error) {
        if (!(error instanceof AdminFault)) throw error;
        // An id has one kind, so the others do not know it.
        if (error.status === 404) return [];
        if (error.status !== 403) throw error;
        notes.add(`You may not see the ${name} of realm ${realm}.`);
        return [];
      }
    }),
  );
  return lists.flat();
}

async function findUsers(
  api: Pick<AdminApi, 'get'>,
  realm: string,
  search: string,
): Promise<readonly Found[]> {
  const users = await api.get<readonly User[]>(path`/${realm}/users`, {
    search,
    first: 0,
    max: EACH,
    briefRepresentation: true,
  });
  return users.map(({ id, username, firstName, lastName, email }) => ({
    kind: 'user',
    title: username,
    detail: detail(realm, [firstName, lastName].filter(Boolean).join(' '), email),
    address: address`/${realm}/users/${id}`,
  }));
}

async function findGroups(
  api: Pick<AdminApi, 'get'>,
  realm: string,
  search: string,
): Promise<readonly Found[]> {
  const trees = await api.get<readonly FoundGroup[]>(path`/${realm}/groups`, { search, first: 0, max: EACH });
  const all = (groups: readonly FoundGroup[]): readonly FoundGroup[] =>
    groups.flatMap((group) => [group, ...all(group.subGroups ?? [])]);
  return all(trees)
    .filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()))
    .slice(0, EACH)
    .map((group) => foundGroup(realm, group));
}

async function findGroup(api: Pick<AdminApi, 'get'>, realm: string, id: string): Promise<readonly Found[]> {
  return [foundGroup(realm, await api.get<FoundGroup>(path`/${realm}/groups/${id}`))];
}

function foundGroup(realm: string, group: FoundGroup): Found {
  return {
    kind: 'group',
    title: group.name,
    detail: detail(realm, group.path),
    address: address`/${realm}/groups/${group.id}`,
  };
}

async function findClients(
  api: Pick<AdminApi, 'get'>,
  realm: string,
  clientId: string,
): Promise<readonly Found[]> {
  const clients = await api.get<readonly Client[]>(path`/${realm}/clients`, {
    clientId,
    search: true,
    first: 0,
    max: EACH,
  });
  return clients.map((client) => foundClient(realm, client));
}

async function findClient(api: Pick<AdminApi, 'get'>, realm: string, id: string): Promise<readonly Found[]> {
  return [foundClient(realm, await api.get<Client>(path`/${realm}/clients/${id}`))];
}

function foundClient(realm: string, client: Client): Found {
  return {
    kind: 'client',
    title: client.clientId,
    // A name such as `${client_account}` is a key of Keycloak's message files.
    detail: detail(realm, client.name?.startsWith('${') === true ? '' : client.name),
    address: address`/${realm}/clients/${client.id}`,
  };
}

async function findRoles(
  api: Pick<AdminApi, 'get'>,
  realm: string,
  search: string,
): Promise<readonly Found[]> {
  const roles = await api.get<readonly Role[]>(path`/${realm}/roles`, { search, first: 0, max: EACH });
  return roles.map((role) => foundRole(realm, role));
}

async function findRole(api: Pick<AdminApi, 'get'>, realm: string, id: string): Promise<readonly Found[]> {
  return [foundRole(realm, await api.get<Role>(path`/${realm}/roles-by-id/${id}`))];
}

function foundRole(realm: string, role: Role): Found {
  const owner = role.clientRole === true ? role.containerId : undefined;
  return {
    kind: 'role',
    title: role.name,
    detail: detail(realm, role.description?.startsWith('${') === true ? '' : role.description),
    address:
      owner === undefined ? address`/${realm}/roles/${role.id}` : address`/${realm}/clients/${owner}/roles`,
  };
}

function detail(realm: string, ...parts: readonly (string | undefined)[]): string {
  return [...parts, realm].filter(Boolean).join(' · ');
}
