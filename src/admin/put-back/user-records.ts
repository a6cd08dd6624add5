import { type Group, groupPath, REVISION, type User } from '../../model/index.ts';
import { type Json, objects, text } from '../representation/json.ts';
import { buildGroups } from '../role/build-roles.ts';
import { buildUsers } from '../user/build-users.ts';
import type { PutBackWork } from './put-back.ts';

/** Plans the groups with their subgroups. `given` contains trees, whose roots can have a parent. */
export async function putBackGroups(
  work: PutBackWork,
  given: readonly Json[],
  defaultGroups: readonly string[],
): Promise<void> {
  const { call, names } = work;
  const isDefault = new Set(defaultGroups);
  const mayDefault = call.rights.has('manageRealm');
  for (const tree of given) {
    const parentId = parentOf(work, tree);
    if (parentId === 'missing') continue;
    const before = new Map(names.groups);
    const built = await buildGroups(
      [cleanGroup(work, tree)],
      call.configuration.realm.id,
      names,
      call.context,
    );
    // The builder names each tree as if its root were a top-level group.
    names.groups.clear();
    for (const [path, id] of before) names.groups.set(path, id);
    for (const [index, group] of built.entries()) {
      const path = pathIn(built, group, text(tree['path']) ?? `/${group.name}`);
      const wasDefault = isDefault.has(path);
      if (wasDefault && !mayDefault)
        work.notes.push(
          `group ${path}: it comes back as an ordinary group, not as a default group, because that needs the role manage-realm`,
        );
      const placed: Group = {
        ...group,
        ...(index === 0 && parentId !== undefined ? { parentId } : {}),
        isDefault: wasDefault && mayDefault,
      };
      if (addGroup(work, placed, path)) names.groups.set(path, group.id);
    }
  }
}

/** Returns the current parent of a tree, undefined for a top-level group, or `missing` if it does not exist. */
function parentOf(work: PutBackWork, tree: Json): string | undefined | 'missing' {
  const parent = text(tree['parentId']);
  if (parent === undefined) return undefined;
  const id =
    work.resolved.groupIds.get(parent) ?? (work.call.configuration.groups.has(parent) ? parent : undefined);
  if (id !== undefined) return id;
  const name = text(tree['path']) ?? String(tree['name']);
  const what = `the parent of group ${name} does not exist; put the parent back first`;
  work.clashes.push({ kind: 'group', name, what });
  return 'missing';
}

function cleanGroup(work: PutBackWork, group: Json): Json {
  const owner = `group ${text(group['path']) ?? String(group['name'])}`;
  return {
    ...group,
    realmRoles: work.known.realmRoles(group['realmRoles'], owner),
    clientRoles: work.known.clientRoles(group['clientRoles'], owner),
    subGroups: objects(group['subGroups']).map((one) => cleanGroup(work, one)),
  };
}

/** Returns the path that the group had in the backup. */
function pathIn(built: readonly Group[], group: Group, rootPath: string): string {
  const names: string[] = [];
  let current: Group | undefined = group;
  while (current !== undefined && current !== built[0]) {
    names.unshift(current.name);
    current = built.find(({ id }) => id === current!.parentId);
  }
  return [rootPath, ...names].join('/');
}

/** Returns false for a group that clashes. */
function addGroup(work: PutBackWork, group: Group, path: string): boolean {
  const { groups } = work.call.configuration;
  const outcome = { kind: 'group' as const, name: path, id: group.id };
  const there = groups.get(group.id);
  const sibling = groups
    .values()
    .find((one) => one.name === group.name && one.parentId === group.parentId && one.id !== group.id);
  if (sibling !== undefined && (there === undefined || work.overwrite)) {
    const what = `a group ${groupPath(work.call.configuration, sibling)} exists with another id; rename or delete it, and put the group back again`;
    work.clashes.push({ ...outcome, what });
    return false;
  }
  if (there !== undefined && !work.overwrite) {
    work.outcomes.push({ action: 'kept', ...outcome });
    return true;
  }
  work.granted.roleIds.push(...group.roleIds);
  if (there === undefined) {
    work.created.groups.set(group.id, group);
    work.changes.push({ do: 'create', group });
    work.outcomes.push({ action: 'created', ...outcome });
  } else {
    const kept = { parentId: there.parentId, isDefault: there.isDefault, [REVISION]: there[REVISION]! };
    work.granted.groupIds.push(group.id);
    const put: Group = { ...group, ...kept } as Group;
    if (there.parentId === undefined) delete put.parentId;
    work.changes.push({ do: 'put', group: put });
    work.outcomes.push({ action: 'changed', ...outcome });
  }
  return true;
}

/** Plans the users with their credentials, consents, roles and memberships. */
export async function putBackUsers(work: PutBackWork, given: readonly Json[]): Promise<void> {
  const { call, names } = work;
  const { realm } = call.configuration;
  const wanted: Json[] = [];
  for (const one of given) {
    const owner = `user ${String(one['username'])}`;
    const account = text(one['serviceAccountClientId']);
    if (account !== undefined && !names.clients.has(account)) {
      const what = `client ${account} of the service account does not exist; put the client back first`;
      work.clashes.push({ kind: 'serviceAccount', name: String(one['username']), what });
      continue;
    }
    if (await isWanted(work, one))
      wanted.push({
        ...one,
        realmRoles: work.known.realmRoles(one['realmRoles'], owner),
        clientRoles: work.known.clientRoles(one['clientRoles'], owner),
        groups: work.known.groups(one['groups'], owner),
        clientConsents: work.known.consents(one['clientConsents'], owner),
      });
  }
  const { users, credentials, consents } = await buildUsers(
    { users: wanted },
    { realm, clients: [], defaultRoleId: realm.defaultRoleId, names, context: call.context },
  );
  for (const user of users) {
    work.granted.roleIds.push(...user.roleIds);
    work.granted.groupIds.push(...user.groupIds);
    work.changes.push({ do: 'create', user: withNotBefore(user, work.notBefore) });
  }
  for (const credential of credentials) work.changes.push({ do: 'create', credential });
  for (const consent of consents) work.changes.push({ do: 'putConsent', consent });
}

/** The tokens that the user got before the deletion stay invalid. */
function withNotBefore(user: User, notBefore: number): User {
  return { ...user, notBefore: Math.max(user.notBefore, notBefore) };
}

/** Decides what happens to a user. An overwritten user is removed first, which also ends the sessions. */
async function isWanted(work: PutBackWork, given: Json): Promise<boolean> {
  const { context, configuration } = work.call;
  const { realm } = configuration;
  const username = String(given['username'] ?? '').toLowerCase();
  const id = String(given['id'] ?? '');
  const clientId = text(given['serviceAccountClientId']);
  const outcome = {
    kind: clientId === undefined ? ('user' as const) : ('serviceAccount' as const),
    name: username,
    id,
  };
  const there = await context.store.findUser(realm.id, id);
  if (there !== undefined && !work.overwrite) {
    work.outcomes.push({ action: 'kept', ...outcome });
    return false;
  }
  const clash = await findClash(work, given, { id, username, clientId });
  if (clash !== undefined) {
    work.clashes.push({ ...outcome, what: clash });
    return false;
  }
  if (there !== undefined) work.changes.push({ do: 'remove', what: 'user', id });
  work.outcomes.push({ action: there === undefined ? 'created' : 'changed', ...outcome });
  return true;
}

async function findClash(
  { call, names }: PutBackWork,
  given: Json,
  { id, username, clientId }: { id: string; username: string; clientId: string | undefined },
): Promise<string | undefined> {
  const { store } = call.context;
  const { realm } = call.configuration;
  const way = 'rename or delete that user, and put the user back again';
  const sameName = await store.findUserByUsername(realm.id, username);
  if (sameName !== undefined && sameName.id !== id)
    return `the username ${username} is taken by another user; ${way}`;
  const email = text(given['email'])?.toLowerCase();
  if (email !== undefined && email !== '' && !realm.settings.duplicateEmailsAllowed) {
    const sameEmail = await store.findUserByEmail(realm.id, email);
    if (sameEmail !== undefined && sameEmail.id !== id)
      return `the email of ${username} is taken by user ${sameEmail.username}; ${way}`;
  }
  const account =
    clientId === undefined ? undefined : await store.findServiceAccount(names.clients.get(clientId)!);
  return account !== undefined && account.id !== id
    ? `client ${clientId} has another service account already`
    : undefined;
}
