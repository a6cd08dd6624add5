import { ADDRESSED, findAdminRole, findManagementClient, type Json } from '../../admin/index.ts';
import type { RecordKind, Role } from '../../model/index.ts';
import type { Written } from './admin-row.ts';
import type { AdminCall } from './call.ts';
import { readJson } from './read-json.ts';

/**
 * Maximum number of records of one kind that a partial import locks. If there are more, it locks none, and only the
 * store detects conflicts.
 */
const MAX_IMPORTED = 24;

type MaybeRecord = { id: string } | undefined;

/** Declares that a route writes the record that `find` returns, if there is one. */
function written(kind: RecordKind, find: (call: AdminCall) => MaybeRecord | Promise<MaybeRecord>): Written {
  return writtenList(kind, async (call) => [await find(call)]);
}

/** Declares that a route writes the records that `find` returns. `find` returns undefined for a missing record. */
function writtenList(
  kind: RecordKind,
  find: (call: AdminCall) => readonly MaybeRecord[] | Promise<readonly MaybeRecord[]>,
): Written {
  return {
    kind,
    ids: async (call) => (await find(call)).flatMap((record) => (record === undefined ? [] : [record.id])),
  };
}

/** The realm that the path names. */
export const theRealm = written('realm', ({ configuration }) => configuration.realm);

/** The hierarchy of the realm's groups. Two parallel moves must neither create a cycle nor orphan a group. */
export const theGroups = written('groups', ({ configuration }) => configuration.realm);

/** The user whose id is in the path. */
export const theUser = written('user', ({ context, configuration, param }) =>
  context.store.findUser(configuration.realm.id, param('id')),
);

/** The client whose id is in the path. */
export const theClient = written('client', ({ context, configuration, param }) =>
  context.store.findClientByUuid(configuration.realm.id, param('client')),
);

/** The client scope whose id is in the path. */
export const theScope = written('scope', ({ configuration, param }) =>
  configuration.clientScopes.get(param('scope')),
);

/** The group whose id is in the path. */
export const theGroup = written('group', ({ configuration, param }) => configuration.groups.get(param('id')));

/** The group that the request moves. Its id is in the body. */
export const theMovedGroup = written('group', (call) =>
  call.configuration.groups.get(String(peek(call)['id'] ?? '')),
);

/** The component whose id is in the path. */
export const theComponent = written('component', ({ configuration, param }) =>
  configuration.components.find(({ id }) => id === param('id')),
);

/** The role whose id is in the path. */
export const theRole = written('role', ({ configuration, param }) => configuration.roles.get(param('id')));

/** The role whose name is in the path. It belongs to the realm, or to the client whose id is in the path. */
export function theNamedRole(owner: 'realm' | 'client'): Written {
  return written('role', ({ configuration, param }) => {
    const uuid = owner === 'realm' ? undefined : param('client');
    return configuration.roles
      .values()
      .find((role) => role.clientUuid === uuid && role.name === param('name'));
  });
}

/** The role `admin` of the master realm, which includes the administrative roles of every realm. */
export const masterAdminRole = written('role', async ({ context }): Promise<Role | undefined> => {
  const master = await context.store.findRealm('master');
  return master === undefined ? undefined : findAdminRole(master);
});

/** The client of the master realm that has the administrative roles of the path's realm. */
export const managementClient = written('client', async ({ context, configuration }) => {
  const master = await context.store.findRealm('master');
  return master === undefined
    ? undefined
    : await findManagementClient(context, master, configuration.realm.name);
});

/** The clients that change if the request renames the realm. Empty if the realm keeps its name. */
export const renamedClients = writtenList('client', async (call) => {
  const { context, configuration } = call;
  const { id, name } = configuration.realm;
  const newName = peek(call)['realm'];
  if (newName === undefined || newName === name) return [];
  const master = await context.store.findRealm('master');
  return Promise.all([
    master === undefined ? undefined : findManagementClient(context, master, name),
    ...ADDRESSED.map(([clientId]) => context.store.findClient(id, clientId)),
  ]);
});

/** The existing records that a partial import names. */
export const importedRecords: readonly Written[] = [
  imported('client', async ({ context, configuration }, body) => {
    const names = [
      ...objectsIn(body['clients']).map((one) => one['clientId']),
      ...Object.keys(rolesOfClients(body)),
    ];
    if (names.length > MAX_IMPORTED) return [];
    return Promise.all(names.map((name) => context.store.findClient(configuration.realm.id, String(name))));
  }),
  imported('user', async ({ context, configuration }, body) => {
    const users = objectsIn(body['users']);
    if (users.length > MAX_IMPORTED) return [];
    const names = users.map(({ username }) => String(username).toLowerCase());
    return Promise.all(names.map((name) => context.store.findUserByUsername(configuration.realm.id, name)));
  }),
  imported('group', ({ configuration }, body) => {
    const names = new Set(objectsIn(body['groups']).map(({ name }) => name));
    const top = configuration.groups.values().filter(({ parentId }) => parentId === undefined);
    return [...top.filter(({ name }) => names.has(name))];
  }),
  imported('role', ({ configuration }, body) => {
    const lists = [objectIn(body['roles'])['realm'], ...Object.values(rolesOfClients(body))];
    const names = new Set(lists.flatMap(objectsIn).map(({ name }) => name));
    return [...configuration.roles.values().filter(({ name }) => names.has(name))];
  }),
];

function rolesOfClients(body: Json): Json {
  return objectIn(objectIn(body['roles'])['client']);
}

/** The existing records of a kind that a partial import names. Empty if there are too many to lock. */
function imported(
  kind: RecordKind,
  find: (call: AdminCall, body: Json) => readonly MaybeRecord[] | Promise<readonly MaybeRecord[]>,
): Written {
  return writtenList(kind, async (call) => {
    const existing = (await find(call, peek(call))).filter((record) => record !== undefined);
    return existing.length > MAX_IMPORTED ? [] : existing;
  });
}

function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function objectIn(value: unknown): Json {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/** Returns the object in the body. For an invalid body, which the route's handler rejects, returns an empty object. */
function peek({ request }: Pick<AdminCall, 'request'>): Json {
  try {
    return objectIn(readJson(request));
  } catch {
    return {};
  }
}
