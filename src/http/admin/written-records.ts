import { ADDRESSED, findAdminRole, findManagementClient, type Json } from '../../admin/index.ts';
import type { Client, RecordKind, Role } from '../../model/index.ts';
import type { Written } from './admin-row.ts';
import type { AdminCall } from './call.ts';
import { readJson } from './read-json.ts';

/** Records of a partial import that are taken one by one; of a larger one the store alone sees that none changed. */
const MOST_IMPORTED = 24;

function written(kind: RecordKind, find: (call: AdminCall) => Found | Promise<Found>): Written {
  return {
    kind,
    ids: async (call) => {
      const found = await find(call);
      const all = Array.isArray(found) ? (found as { id: string }[]) : [found as { id: string } | undefined];
      return all.flatMap((one) => (one === undefined ? [] : [one.id]));
    },
  };
}

type Found = { id: string } | undefined | readonly { id: string }[];

/** The realm of the path. */
export const theRealm = written('realm', ({ configuration }) => configuration.realm);

/** How the realm's groups hang together: no two moves may make a circle, and no group be left without its parent. */
export const theGroups = written('groups', ({ configuration }) => configuration.realm);

/** The user of the path. */
export const theUser = written('user', ({ context, configuration, param }) =>
  context.store.findUser(configuration.realm.id, param('id')),
);

/** The client of the path. */
export const theClient = written('client', ({ context, configuration, param }) =>
  context.store.findClientByUuid(configuration.realm.id, param('client')),
);

/** The client scope of the path. */
export const theScope = written('scope', ({ configuration, param }) =>
  configuration.clientScopes.get(param('scope')),
);

/** The group of the path. */
export const theGroup = written('group', ({ configuration, param }) => configuration.groups.get(param('id')));

/** The group that a body brings the id of, to be moved. */
export const theMovedGroup = written('group', (call) =>
  call.configuration.groups.get(String(peek(call)['id'] ?? '')),
);

/** The component of the path. */
export const theComponent = written('component', ({ configuration, param }) =>
  configuration.components.find(({ id }) => id === param('id')),
);

/** The role of the path, by its id. */
export const theRole = written('role', ({ configuration, param }) => configuration.roles.get(param('id')));

/** The role of the path, by its name among those of the realm or of the path's client. */
export function theNamedRole(owner: 'realm' | 'client'): Written {
  return written('role', ({ configuration, param }) => {
    const uuid = owner === 'realm' ? undefined : param('client');
    return configuration.roles
      .values()
      .find((role) => role.clientUuid === uuid && role.name === param('name'));
  });
}

/** Master's role `admin`, which includes the administrative roles of every realm. */
export const masterAdminRole = written('role', async ({ context }): Promise<Role | undefined> => {
  const master = await context.store.findRealm('master');
  return master === undefined ? undefined : findAdminRole(master);
});

/** The client of master that holds the administrative roles of the path's realm. */
export const managementClient = written('client', async ({ context, configuration }) => {
  const master = await context.store.findRealm('master');
  return master === undefined
    ? undefined
    : await findManagementClient(context, master, configuration.realm.name);
});

/** The clients that a realm's new name changes; none where it keeps its name. */
export const renamedClients = written('client', async (call): Promise<readonly Client[]> => {
  const { context, configuration } = call;
  const { id, name } = configuration.realm;
  const wanted = peek(call)['realm'];
  if (wanted === undefined || wanted === name) return [];
  const master = await context.store.findRealm('master');
  const found = await Promise.all([
    master === undefined ? undefined : findManagementClient(context, master, name),
    ...ADDRESSED.map(([clientId]) => context.store.findClient(id, clientId)),
  ]);
  return found.filter((client) => client !== undefined);
});

/** The records that a partial import names and that are there already. */
export const importedRecords: readonly Written[] = [
  imported('client', async ({ context, configuration }, given) => {
    const names = [
      ...objectsIn(given['clients']).map((one) => one['clientId']),
      ...Object.keys(rolesOfClients(given)),
    ];
    if (names.length > MOST_IMPORTED) return [];
    return Promise.all(names.map((name) => context.store.findClient(configuration.realm.id, String(name))));
  }),
  imported('user', async ({ context, configuration }, given) => {
    const users = objectsIn(given['users']);
    if (users.length > MOST_IMPORTED) return [];
    const names = users.map(({ username }) => String(username).toLowerCase());
    return Promise.all(names.map((name) => context.store.findUserByUsername(configuration.realm.id, name)));
  }),
  imported('group', ({ configuration }, given) => {
    const names = new Set(objectsIn(given['groups']).map(({ name }) => name));
    const top = configuration.groups.values().filter(({ parentId }) => parentId === undefined);
    return [...top.filter(({ name }) => names.has(name))];
  }),
  imported('role', ({ configuration }, given) => {
    const realm = (given['roles'] as Json | undefined)?.['realm'];
    const lists = [realm, ...Object.values(rolesOfClients(given))];
    const names = new Set(lists.flatMap(objectsIn).map(({ name }) => name));
    return [...configuration.roles.values().filter(({ name }) => names.has(name))];
  }),
];

function rolesOfClients(given: Json): Json {
  return ((given['roles'] as Json | undefined)?.['client'] ?? {}) as Json;
}

/** None where there are too many to take one by one. */
function imported(kind: RecordKind, find: (call: AdminCall, given: Json) => Many | Promise<Many>): Written {
  return written(kind, async (call) => {
    const found = (await find(call, peek(call))).filter((one) => one !== undefined);
    return found.length > MOST_IMPORTED ? [] : found;
  });
}

type Many = readonly ({ id: string } | undefined)[];

function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}

/** The object of the body; empty where it is none, which the row itself refuses. */
function peek({ request }: Pick<AdminCall, 'request'>): Json {
  try {
    const value = readJson(request);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}
