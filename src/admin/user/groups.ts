import { Slices, uuid } from '../../core/index.ts';
import { type Group, groupPath } from '../../model/index.ts';
import type { Range } from '../../store/index.ts';
import { checkGroupGrants } from '../access/admin-roles.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { type Pages, shown } from '../call/pages.ts';
import { badRequest, conflict, notFound } from '../call/refusal.ts';
import { defined, type Json, text } from '../representation/json.ts';
import { byName } from '../representation/names.ts';
import { keeping } from '../trash/keep.ts';
import { getUser } from './get-user.ts';
import { type GroupTree, groupIdsByPath, groupTree, matchingWithParents } from './group-tree.ts';
import { briefUserRepresentation } from './user-representation.ts';

/** @throws AdminRefusal 404 */
export function getGroup({ configuration }: RealmCall, id: string): Group {
  const group = configuration.groups.get(id);
  if (group === undefined) throw notFound('Could not find group by id');
  return group;
}

function briefGroup(call: RealmCall, group: Group): Json {
  return {
    ...defined({
      id: group.id,
      name: group.name,
      description: group.description,
      path: groupPath(call.configuration, group),
      parentId: group.parentId,
    }),
  };
}

function accessOf({ rights }: RealmCall): Json {
  const manage = rights.has('manageUsers');
  const view = rights.has('viewUsers');
  return { view, viewMembers: view, manageMembers: manage, manage, manageMembership: manage };
}

async function rolesByName({ context, configuration }: RealmCall, group: Group): Promise<Json> {
  const uuids = new Set(group.roleIds.flatMap((id) => configuration.roles.get(id)?.clientUuid ?? []));
  const clientIds = new Map<string, string>();
  for (const uuid of uuids) {
    const client = await context.store.findClientByUuid(configuration.realm.id, uuid);
    if (client !== undefined) clientIds.set(uuid, client.clientId);
  }
  return byName({ configuration, clientIds }, group.roleIds);
}

/** Shows a group with its attributes and roles. */
export async function showGroup(
  call: RealmCall,
  group: Group,
  access: 'with access' | 'plain',
): Promise<Json> {
  return {
    ...briefGroup(call, group),
    subGroupCount: ((await groupTree(call.configuration)).get(group.id) ?? []).length,
    subGroups: [],
    attributes: group.attributes,
    ...(await rolesByName(call, group)),
    ...(access === 'plain' ? {} : { access: accessOf(call) }),
  };
}

/** The query parameters of a list of groups. */
export interface GroupQuery {
  search?: string;
  exact?: boolean;
  first?: number;
  max?: number;
  brief: boolean;
}

/**
 * Lists the groups below `parentId`, or the top-level groups. A search covers all levels and returns the matches with
 * their parents. A caller who has only `query-groups` gets an empty list, because groups reveal attributes and roles.
 */
export async function listGroups(call: RealmCall, query: GroupQuery, parentId?: string): Promise<Json[]> {
  if (!call.rights.has('viewUsers')) return [];
  const { search = '', exact, first = 0, max } = query;
  const wanted = search.toLowerCase();
  const matches = ({ name }: Group) => (exact ? name === search : name.toLowerCase().includes(wanted));
  const tree = await groupTree(call.configuration);
  const found = search === '' ? undefined : await matchingWithParents(call.configuration, matches);
  const page = (tree.get(parentId) ?? [])
    .filter(({ id }) => found?.has(id) ?? true)
    .slice(first, max === undefined ? undefined : first + max);
  const list: GroupList = { tree, found, brief: query.brief, slices: new Slices() };
  const listed: Json[] = [];
  for (const group of page) listed.push(await listedGroup(call, group, list));
  return listed;
}

/** `found`: the ids of the groups to show below others. If absent, the list shows no subgroups. */
interface GroupList {
  tree: GroupTree;
  found: ReadonlySet<string> | undefined;
  brief: boolean;
  slices: Slices;
}

async function listedGroup(call: RealmCall, group: Group, list: GroupList): Promise<Json> {
  const { tree, found, brief, slices } = list;
  if (slices.isOver) await slices.pause();
  const children = tree.get(group.id) ?? [];
  const subGroups: Json[] = [];
  if (found !== undefined)
    for (const child of children)
      if (found.has(child.id)) subGroups.push(await listedGroup(call, child, list));
  if (!brief) return { ...(await showGroup(call, group, 'with access')), subGroups };
  return { ...briefGroup(call, group), subGroupCount: children.length, subGroups, access: accessOf(call) };
}

/** Counts all groups that match, or only the top-level ones. */
export function countGroups(call: RealmCall, options: { top: boolean; search?: string }): Json {
  const search = options.search?.toLowerCase() ?? '';
  const counted = call.configuration.groups
    .values()
    .filter(
      (group) => (!options.top || group.parentId === undefined) && group.name.toLowerCase().includes(search),
    );
  return { count: [...counted].length };
}

/** @param path for example `staff/finance` @throws AdminRefusal 404 */
export async function showGroupByPath(call: RealmCall, path: string): Promise<Json> {
  const wanted = `/${path.replace(/^\//, '')}`;
  const id = (await groupIdsByPath(call.configuration)).get(wanted);
  const group = id === undefined ? undefined : call.configuration.groups.get(id);
  if (group === undefined) throw notFound('Group path does not exist');
  return await showGroup(call, group, 'plain');
}

/** The result of `createGroup`: a new group, or an existing one that was moved. */
export type GroupMade = { outcome: 'made' | 'moved'; group: Group };

/**
 * Creates a group at the top level or below `parent`. If a group with the given id exists, moves that group instead.
 */
export async function createGroup(call: RealmCall, given: Json, parent?: Group): Promise<GroupMade> {
  const { context, configuration } = call;
  const existing = configuration.groups.get(text(given['id']) ?? '');
  const name = text(given['name']) ?? existing?.name;
  if (name === undefined || name.trim() === '') throw badRequest('Group name is missing');
  const created: Group = {
    id: uuid(context.random),
    realmId: configuration.realm.id,
    name,
    attributes: (given['attributes'] ?? {}) as Group['attributes'],
    roleIds: [],
    isDefault: false,
    ...defined({ description: text(given['description']) }),
  };
  const { parentId: _old, ...stay } = existing ?? created;
  const group: Group = { ...stay, name, ...defined({ parentId: parent?.id }) };
  if (existing !== undefined && parent !== undefined && isBelow(call, parent, existing))
    throw badRequest('A group cannot be moved below itself.');
  const outcome = existing === undefined ? 'made' : 'moved';
  // The members of a moved group inherit the roles of its new parents.
  if (outcome === 'moved' && parent !== undefined) await checkGroupGrants(call, [parent.id]);
  await applyChanges(
    call,
    [{ do: outcome === 'made' ? 'create' : 'put', group }],
    {
      operation: outcome === 'made' ? 'CREATE' : 'UPDATE',
      resource: 'GROUP',
      path: `groups/${group.id}`,
      representation: given,
    },
    () => groupTaken(group),
  );
  return { outcome, group };
}

function groupTaken({ name, parentId }: Group) {
  return conflict(
    parentId === undefined
      ? `Top level group named '${name}' already exists.`
      : `Sibling group named '${name}' already exists.`,
  );
}

function isBelow({ configuration }: RealmCall, group: Group, above: Group): boolean {
  for (let one: Group | undefined = group; one !== undefined; )
    if (one.id === above.id) return true;
    else one = one.parentId === undefined ? undefined : configuration.groups.get(one.parentId);
  return false;
}

/** Changes the name, description or attributes of a group. @throws AdminRefusal */
export async function updateGroup(call: RealmCall, group: Group, given: Json): Promise<void> {
  const name = text(given['name']) ?? group.name;
  if (name.trim() === '') throw badRequest('Group name is missing');
  const next: Group = {
    ...group,
    name,
    ...(given['description'] === undefined ? {} : { description: text(given['description'])! }),
    ...(given['attributes'] === undefined ? {} : { attributes: given['attributes'] as Group['attributes'] }),
  };
  await applyChanges(
    call,
    [{ do: 'put', group: next }],
    { operation: 'UPDATE', resource: 'GROUP', path: `groups/${group.id}`, representation: given },
    () => groupTaken(next),
  );
}

/**
 * Removes a group with all its subgroups. They move to the bin.
 *
 * @param now erases them for good instead
 */
export async function deleteGroup(call: RealmCall, group: Group, now = false): Promise<void> {
  const remove = { do: 'remove', what: 'group', id: group.id } as const;
  await applyChanges(call, [{ ...remove, ...keeping(call.context, call.caller, now) }], {
    operation: 'DELETE',
    resource: 'GROUP',
    path: now ? `groups/${group.id}?now=true` : `groups/${group.id}`,
    representation: briefGroup(call, group),
  });
}

/** Lists the members of a group, without the members of its subgroups. */
export function listMembers(call: RealmCall, id: string, range: Range): Pages {
  const group = getGroup(call, id);
  const members = call.context.store.memberPages(group.id, range);
  return shown(members, (page) => page.map(briefUserRepresentation));
}

export async function listUserGroups(call: RealmCall, userId: string): Promise<Json[]> {
  const user = await getUser(call, userId);
  return user.groupIds.flatMap((id) => {
    const group = call.configuration.groups.get(id);
    return group === undefined ? [] : [{ ...briefGroup(call, group), subGroups: [] }];
  });
}

/** Adds a user to a group, or removes the user from it. Repeating the call is not an error. @throws AdminRefusal */
export async function changeMembership(
  call: RealmCall,
  userId: string,
  groupId: string,
  how: 'join' | 'leave',
): Promise<void> {
  await getUser(call, userId);
  if (!call.configuration.groups.has(groupId)) throw notFound('Group not found');
  if (how === 'join') await checkGroupGrants(call, [groupId]);
  await applyChanges(call, [{ do: how, userId, groupId }], {
    operation: how === 'join' ? 'CREATE' : 'DELETE',
    resource: 'GROUP_MEMBERSHIP',
    path: `users/${userId}/groups/${groupId}`,
  });
}
