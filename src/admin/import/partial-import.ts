import { mapInSlices, Slices } from '../../core/index.ts';
import { type Client, type Group, REVISION, type Role, type User } from '../../model/index.ts';
import type { Change, Conflict, RealmConfiguration } from '../../store/index.ts';
import { checkGrants, checkGroupGrants, checkNoAdminRole, withNewRecords } from '../access/admin-roles.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { AdminRefusal, badRequest, conflict } from '../call/refusal.ts';
import { buildClient } from '../client/build-client.ts';
import { clientRepresentation } from '../client/client-representation.ts';
import { checkClientName } from '../client/clients.ts';
import { checkRealm } from '../representation/check-realm.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { type Json, objects, strings, text } from '../representation/json.ts';
import { checkClientSecrets, withoutMaskedSecrets } from '../representation/missing-secrets.ts';
import { Names } from '../representation/names.ts';
import { buildGroups, buildRoles } from '../role/build-roles.ts';
import { buildUsers } from '../user/build-users.ts';
import { groupIdsByPath, groupTree } from '../user/group-tree.ts';

/** What to do with a record if its name exists already. */
export type IfExists = 'FAIL' | 'SKIP' | 'OVERWRITE';

export interface Outcome {
  action: 'ADDED' | 'SKIPPED' | 'OVERWRITTEN';
  resourceType: 'USER' | 'CLIENT' | 'GROUP' | 'REALM_ROLE' | 'CLIENT_ROLE';
  resourceName: string;
  id: string;
}

/** A partial import in progress. */
interface Work {
  call: RealmCall;
  ifExists: IfExists;
  names: Names;
  changes: Change[];
  results: Outcome[];
  slices: Slices;
}

/**
 * Adds users, clients, roles and groups to a realm in one transaction. Users get only the roles that the import lists,
 * and clients get no service account. See docs/keycloak/import.md#partial-import.
 *
 * @param body the records, which are checked in slices
 * @param policy Default: `ifResourceExists` of the body.
 * @param refuse throws the refusal of an invalid body. Default: throws the fault.
 * @throws AdminRefusal 409 for an existing name with `FAIL`; nothing is stored
 */
export async function importPartially(
  call: RealmCall,
  body: unknown,
  policy?: IfExists,
  refuse?: () => unknown,
): Promise<Json> {
  const { changes, results } = await prepareImport(call, body, policy, refuse);
  const { turns: _few, ...unchecked } = call;
  // An import does not lock the records that it changes. The store rejects the import if another call has changed one
  // of them.
  await applyChanges(
    unchecked,
    changes,
    { operation: 'CREATE', resource: 'REALM', path: 'partialImport' },
    taken,
  );
  return { ...countOutcomes(results), results };
}

/** Counts the records that an import adds, skips and replaces. */
export function countOutcomes(results: readonly Outcome[]): Json {
  const count = (action: Outcome['action']) => results.filter((one) => one.action === action).length;
  return { overwritten: count('OVERWRITTEN'), added: count('ADDED'), skipped: count('SKIPPED') };
}

/**
 * Decides what an import changes, without storing it. The parameters are those of `importPartially`.
 *
 * @throws AdminRefusal
 */
export async function prepareImport(
  call: RealmCall,
  body: unknown,
  policy?: IfExists,
  refuse?: () => unknown,
): Promise<Pick<Work, 'changes' | 'results'>> {
  const { context, configuration } = call;
  const given = await checkBody(body, refuse);
  const ifExists = policy ?? readIfExists(given);
  if (objects(given['identityProviders']).length > 0)
    throw new AdminRefusal('not-built', { errorMessage: 'idkit does not support identity providers yet' });
  checkSingleRights(call, given);
  const clients = await context.store.listClients({ realmId: configuration.realm.id });
  const ids = clients.map((client) => [client.clientId, client.id] as const);
  const names = Names.of({ ...configuration, groups: new Map() }, ids, () => '');
  await addGroupPaths(names, configuration, given);
  const work: Work = { call, ifExists, names, changes: [], results: [], slices: new Slices() };
  await addClients(work, objects(given['clients']), clients);
  const roles = await addRoles(work, (given['roles'] ?? {}) as Json);
  const groups = await addGroups(work, objects(given['groups']));
  const users = await addUsers(work, objects(given['users']));
  await checkPartialGrants(work, roles, groups, users);
  return work;
}

async function checkBody(body: unknown, refuse?: () => unknown): Promise<Json> {
  try {
    return await checkRealm(body, undefined, 'PartialImportRepresentation');
  } catch (error) {
    if (error instanceof RepresentationFault) refuse?.();
    throw error;
  }
}

/** @throws AdminRefusal 400 */
export function readIfExists({ ifResourceExists: ifExists = 'FAIL' }: Json): IfExists {
  if (ifExists !== 'FAIL' && ifExists !== 'SKIP' && ifExists !== 'OVERWRITE')
    throw badRequest('ifResourceExists must be FAIL, SKIP or OVERWRITE');
  return ifExists;
}

/**
 * Adds the paths of the top-level groups, and of the groups that users of the import join. The paths of all groups
 * together can be very long.
 */
async function addGroupPaths(
  { groups }: Names,
  configuration: RealmConfiguration,
  given: Json,
): Promise<void> {
  const slices = new Slices();
  const topLevel = (await groupTree(configuration)).get(undefined) ?? [];
  await mapInSlices(topLevel, ({ id, name }) => groups.set(`/${name}`, id), slices);
  const existing = await groupIdsByPath(configuration);
  for (const user of objects(given['users']))
    for (const named of strings(user['groups'])) {
      if (slices.isOver) await slices.pause();
      const path = named.startsWith('/') ? named : `/${named}`;
      const id = existing.get(path);
      if (id !== undefined) groups.set(path, id);
    }
}

/** Checks that the caller could make each change of the import as a separate call. @throws AdminRefusal 403 */
function checkSingleRights({ rights }: RealmCall, given: Json): void {
  const { realm, client } = (given['roles'] ?? {}) as Json;
  const users = objects(given['users']);
  const accounts = users.some((user) => text(user['serviceAccountClientId']) !== undefined);
  if (objects(given['clients']).length > 0 || Object.keys((client ?? {}) as Json).length > 0 || accounts)
    rights.check('manageClients');
  if (users.length > 0 || objects(given['groups']).length > 0) rights.check('manageUsers');
  if (objects(realm).length > 0) rights.check('manageRealm');
}

/**
 * Decides whether a record is created, replaced or skipped, and adds the decision to the results.
 *
 * @throws AdminRefusal 409
 */
function decide(
  work: Work,
  resourceType: Outcome['resourceType'],
  resourceName: string,
  record: { newId: string; thereId: string | undefined; refusal: string },
): 'create' | 'put' | 'skip' {
  const { newId, thereId, refusal } = record;
  if (thereId === undefined) {
    work.results.push({ action: 'ADDED', resourceType, resourceName, id: newId });
    return 'create';
  }
  if (work.ifExists === 'FAIL') throw conflict(refusal);
  const action = work.ifExists === 'SKIP' ? 'SKIPPED' : 'OVERWRITTEN';
  work.results.push({ action, resourceType, resourceName, id: thereId });
  return action === 'SKIPPED' ? 'skip' : 'put';
}

async function addClients(work: Work, given: readonly Json[], there: readonly Client[]): Promise<void> {
  const { call, names, slices } = work;
  const byName = new Map(there.map((client) => [client.clientId, client]));
  for (const [index, one] of given.entries()) {
    if (slices.isOver) await slices.pause();
    const before = byName.get(String(one['clientId'] ?? ''));
    const own = before === undefined ? one : withoutMaskedSecrets(one);
    checkClientSecrets(own, `$.clients[${index}]`);
    const merged =
      before === undefined
        ? own
        : { ...clientRepresentation(call.configuration, before), ...own, id: before.id };
    const place = {
      context: call.context,
      realmId: call.configuration.realm.id,
      names,
      path: `$.clients[${index}]`,
    };
    const client = buildClient(merged, place);
    const refusal = `Client id '${client.clientId}' already exists`;
    const how = decide(work, 'CLIENT', client.clientId, { newId: client.id, thereId: before?.id, refusal });
    names.clients.set(client.clientId, client.id);
    if (how === 'skip') continue;
    checkClientName(call, before?.clientId ?? '', client.clientId);
    const kept =
      before === undefined ? {} : { scopeRoleIds: before.scopeRoleIds, [REVISION]: before[REVISION]! };
    const secrets = { ...before?.secrets, ...client.secrets };
    work.changes.push({ do: how, client: { ...client, ...kept, secrets } });
  }
}

async function addRoles(work: Work, given: Json): Promise<Role[]> {
  const { call, names, slices } = work;
  const { configuration } = call;
  const idOf = (clientId: string | undefined, name: unknown): string | undefined =>
    clientId === undefined
      ? names.realmRoles.get(name as string)
      : names.clientRoles.get(clientId)?.get(name as string);
  const placed = async (list: unknown, clientId?: string): Promise<Json[]> => {
    const place = (one: Json): Json[] => {
      const there = idOf(clientId, one['name']);
      if (there === undefined) return [one];
      if (work.ifExists !== 'SKIP') return [{ ...one, id: there }];
      skip(one, there, clientId);
      return [];
    };
    return (await mapInSlices(objects(list), place, slices)).flat();
  };
  const skip = (one: Json, id: string, clientId: string | undefined): void => {
    work.results.push({
      action: 'SKIPPED',
      resourceType: clientId === undefined ? 'REALM_ROLE' : 'CLIENT_ROLE',
      resourceName: clientId === undefined ? String(one['name']) : `${clientId}-->${one['name']}`,
      id,
    });
  };
  const client: [string, Json[]][] = [];
  const clientIds = new Map<string | undefined, string>();
  for (const [clientId, list] of Object.entries((given['client'] ?? {}) as Json)) {
    client.push([clientId, await placed(list, clientId)]);
    clientIds.set(names.clients.get(clientId), clientId);
  }
  const wanted = { realm: await placed(given['realm']), client: Object.fromEntries(client) };
  const roles = await buildRoles(wanted, configuration.realm.id, names, call.context);
  for (const role of roles) {
    if (slices.isOver) await slices.pause();
    const clientId = role.clientUuid && clientIds.get(role.clientUuid);
    const resourceName = clientId === undefined ? role.name : `${clientId}-->${role.name}`;
    const there = configuration.roles.get(role.id);
    const how = decide(work, clientId === undefined ? 'REALM_ROLE' : 'CLIENT_ROLE', resourceName, {
      newId: role.id,
      thereId: there?.name === role.name ? role.id : undefined,
      refusal:
        clientId === undefined
          ? `Realm role '${role.name}' already exists.`
          : `Client role '${role.name}' for client '${clientId}' already exists.`,
    });
    const revision = how === 'put' ? { [REVISION]: there![REVISION]! } : {};
    if (how !== 'skip') work.changes.push({ do: how, role: { ...role, ...revision } });
  }
  return roles;
}

async function addGroups(work: Work, given: readonly Json[]): Promise<Group[]> {
  const { call, names, slices } = work;
  const place = (one: Json): Json[] => {
    const thereId = names.groups.get(`/${one['name']}`);
    if (thereId === undefined) return [one];
    const refusal = `Group '/${one['name']}' already exists`;
    const how = decide(work, 'GROUP', String(one['name']), { newId: thereId, thereId, refusal });
    if (how === 'skip') return [];
    work.changes.push({ do: 'remove', what: 'group', id: thereId });
    return [{ ...one, id: thereId }];
  };
  const wanted = (await mapInSlices(given, place, slices)).flat();
  const overwritten = new Set(wanted.map((one) => one['id']));
  const groups = await buildGroups(wanted, call.configuration.realm.id, names, call.context);
  for (const group of groups) {
    if (slices.isOver) await slices.pause();
    const replaces = overwritten.has(group.id) && call.configuration.groups.has(group.id);
    if (group.parentId === undefined && !replaces)
      work.results.push({ action: 'ADDED', resourceType: 'GROUP', resourceName: group.name, id: group.id });
    work.changes.push({ do: 'create', group });
  }
  return groups;
}

async function addUsers(work: Work, given: readonly Json[]): Promise<User[]> {
  const { call, names, slices } = work;
  const { realm } = call.configuration;
  const wanted: Json[] = [];
  for (const one of given) {
    if (slices.isOver) await slices.pause();
    const username = text(one['username'])?.toLowerCase() ?? '';
    const there = await call.context.store.findUserByUsername(realm.id, username);
    if (there === undefined) {
      wanted.push(one);
      continue;
    }
    const refusal = `User with user name ${username} already exists.`;
    const how = decide(work, 'USER', username, { newId: there.id, thereId: there.id, refusal });
    if (how === 'skip') continue;
    work.changes.push({ do: 'remove', what: 'user', id: there.id });
    wanted.push({ ...one, id: there.id });
  }
  const { users, credentials, consents } = await buildUsers(
    { users: wanted },
    { realm, clients: [], defaultRoleId: realm.defaultRoleId, names, context: call.context },
  );
  const known = new Set(work.results.map(({ id }) => id));
  for (const user of users) {
    if (slices.isOver) await slices.pause();
    await checkServiceAccount(call, user);
    if (!known.has(user.id))
      work.results.push({ action: 'ADDED', resourceType: 'USER', resourceName: user.username, id: user.id });
    work.changes.push({ do: 'create', user });
  }
  for (const credential of credentials) work.changes.push({ do: 'create', credential });
  for (const consent of consents) work.changes.push({ do: 'putConsent', consent });
  return users;
}

/** A client has one service account at most. @throws AdminRefusal 409 */
async function checkServiceAccount({ context }: RealmCall, user: User): Promise<void> {
  const clientUuid = user.serviceAccountClientUuid;
  if (clientUuid === undefined) return;
  const there = await context.store.findServiceAccount(clientUuid);
  if (there !== undefined && there.id !== user.id)
    throw conflict(`The client of user ${user.username} already has the service account ${there.username}.`);
}

/** Checks that the caller may grant the administrative roles that the import grants. @throws AdminRefusal 403 */
async function checkPartialGrants(
  { call, changes, slices }: Work,
  roles: readonly Role[],
  groups: readonly Group[],
  users: readonly User[],
): Promise<void> {
  const given = [
    ...roles.flatMap(({ compositeIds }) => compositeIds),
    ...groups.flatMap(({ roleIds }) => roleIds),
    ...users.flatMap(({ roleIds }) => roleIds),
  ];
  const byId = <T extends { id: string }>(list: readonly T[]) => new Map(list.map((one) => [one.id, one]));
  const clients = changes.flatMap((change) => ('client' in change ? [change.client] : []));
  const after = withNewRecords(call, { clients: byId(clients), roles: byId(roles), groups: byId(groups) });
  for (const role of roles) {
    if (slices.isOver) await slices.pause();
    await checkNoAdminRole(after, role);
  }
  await checkGrants(after, given);
  await checkGroupGrants(
    after,
    users.flatMap(({ groupIds }) => groupIds),
  );
}

function taken({ on, value }: Conflict): AdminRefusal {
  if (on === 'user.email') return conflict(`User with email ${value} already exists.`);
  if (on === 'user.username') return conflict(`User with user name ${value} already exists.`);
  if (on === 'client.clientId') return conflict(`Client id '${value}' already exists`);
  return conflict(`Duplicate resource error: ${on} ${value}`);
}
