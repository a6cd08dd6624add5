import type { User } from '../../model/index.ts';
import type { Conflict, ListedUser, Range, UserQuery } from '../../store/index.ts';
import { checkGroupGrants } from '../access/admin-roles.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { type Pages, shown } from '../call/pages.ts';
import { type AdminRefusal, badRequest, conflict } from '../call/refusal.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { defined, type Json, objects, strings } from '../representation/json.ts';
import { keeping } from '../trash/keep.ts';
import { buildCredentials, buildUser } from './build-user.ts';
import { checkProfile, getUser } from './get-user.ts';
import { groupIdsByPath } from './group-tree.ts';
import { checkNewPassword } from './passwords.ts';
import { briefUserRepresentation, userRepresentation } from './user-representation.ts';

/** Returns a user's representation, with the caller's rights to the user as `access`. @throws AdminRefusal 404 */
export async function showUser(call: RealmCall, id: string): Promise<Json> {
  const user = await getUser(call, id);
  return { ...(await representUser(call, user)), access: accessOf(call) };
}

/** Returns a user's representation without `access`. */
export async function representUser(call: RealmCall, user: User): Promise<Json> {
  const credentials = await call.context.store.listCredentials(user.id);
  return userRepresentation(user, { totp: credentials.some(({ type }) => type === 'otp') });
}

function accessOf({ rights }: RealmCall): Json {
  const manage = rights.has('manageUsers');
  return {
    manageGroupMembership: manage,
    resetPassword: manage,
    view: rights.has('viewUsers'),
    mapRoles: manage,
    impersonate: rights.roles.has('impersonation'),
    manage,
  };
}

/** Lists the users that match, sorted by username. A caller who has only `query-users` gets an empty list. */
export async function listUsers(
  call: RealmCall,
  query: Omit<UserQuery, 'realmId'> & Range,
  brief: boolean,
): Promise<Pages | readonly Json[]> {
  if (!call.rights.has('viewUsers')) return [];
  const { store } = call.context;
  const realmId = call.configuration.realm.id;
  const byId = /^id:(\S+)$/.exec(query.search ?? '')?.[1];
  const access = { manage: call.rights.has('manageUsers') };
  if (byId === undefined) {
    const represent = (user: ListedUser) =>
      brief ? briefUserRepresentation(user) : userRepresentation(user, { totp: user.hasOtp === true });
    return shown(store.userPages({ ...query, realmId, withOtp: !brief }), (users) =>
      users.map((user) => ({ ...represent(user), access })),
    );
  }
  const one = await store.findUser(realmId, byId);
  if (one === undefined) return [];
  return [{ ...(brief ? briefUserRepresentation(one) : await representUser(call, one)), access }];
}

/**
 * Counts the users that match, without service accounts. Returns 0 for a caller who has only `query-users`, because
 * counts would let that caller guess an attribute letter by letter.
 */
export async function countUsers(call: RealmCall, query: Omit<UserQuery, 'realmId'>): Promise<number> {
  if (!call.rights.has('viewUsers')) return 0;
  return await call.context.store.countUsers({ ...query, realmId: call.configuration.realm.id });
}

/** Creates a user with the realm's default role and groups, and returns its id. @throws AdminRefusal */
export async function createUser(call: RealmCall, given: Json): Promise<string> {
  const { context, configuration } = call;
  const { realm } = configuration;
  const named =
    realm.settings.registrationEmailAsUsername && given['email'] !== undefined
      ? { ...given, username: given['email'] }
      : given;
  if (named['username'] === undefined || named['username'] === '') throw badRequest('User name is missing');
  const { id: _id, ...rest } = named;
  const built = buildUser(rest, { context, realmId: realm.id, path: '$' });
  checkProfile(configuration, built);
  await checkTaken(call, built);
  const groupIds = await namedGroups(call, given);
  await checkGroupGrants(call, groupIds);
  const credentials = objects(given['credentials']);
  for (const one of credentials)
    if (typeof one['value'] === 'string' && one['value'] !== '')
      await checkNewPassword(realm.settings.passwordPolicy, one['value'], built);
  const temporary = credentials.some((one) => one['temporary'] === true && one['value'] !== undefined);
  const user: User = {
    ...built,
    createdTimestamp: context.clock.now(),
    roleIds: [realm.defaultRoleId],
    groupIds: [...new Set([...groupIds, ...defaultGroupIds(call)])],
    requiredActions: temporary
      ? [...new Set([...built.requiredActions, 'UPDATE_PASSWORD'])]
      : built.requiredActions,
  };
  const made = await buildCredentials(
    // Ids in the request are ignored, because idkit assigns the ids of new credentials.
    credentials.map(({ id: _own, ...credential }) => credential),
    user.id,
    { context, passwordPolicy: realm.settings.passwordPolicy, path: '$.credentials' },
  );
  await applyChanges(
    call,
    [{ do: 'create', user }, ...made.map((credential) => ({ do: 'create' as const, credential }))],
    { operation: 'CREATE', resource: 'USER', path: `users/${user.id}`, representation: given },
    userTaken,
  );
  return user.id;
}

async function namedGroups({ configuration }: RealmCall, given: Json): Promise<string[]> {
  const named = strings(given['groups']);
  if (named.length === 0) return [];
  const byPath = await groupIdsByPath(configuration);
  return named.map((path, index) => {
    const id = byPath.get(path.startsWith('/') ? path : `/${path}`);
    if (id === undefined)
      throw new RepresentationFault(`$.groups[${index}]`, `the group "${path}" does not exist`);
    return id;
  });
}

function defaultGroupIds({ configuration }: RealmCall): string[] {
  return [...configuration.groups.values().filter(({ isDefault }) => isDefault)].map(({ id }) => id);
}

function userTaken(taken: Conflict): AdminRefusal {
  if (taken.on === 'user.email') return conflict('User exists with same email');
  return conflict('User exists with same username');
}

async function checkTaken(call: RealmCall, user: User): Promise<void> {
  const { store } = call.context;
  const { realm } = call.configuration;
  const same = await store.findUserByUsername(realm.id, user.username);
  if (same !== undefined && same.id !== user.id) throw conflict('User exists with same username');
  if (user.email === undefined || realm.settings.duplicateEmailsAllowed) return;
  const sameEmail = await store.findUserByEmail(realm.id, user.email);
  if (sameEmail !== undefined && sameEmail.id !== user.id) throw conflict('User exists with same email');
}

/** Changes the given fields of a user. All other fields stay unchanged, as in Keycloak 26. @throws AdminRefusal */
export async function updateUser(call: RealmCall, id: string, given: Json): Promise<void> {
  const before = await getUser(call, id);
  const { context, configuration } = call;
  const { realm } = configuration;
  const built = buildUser(
    { ...given, username: given['username'] ?? before.username },
    {
      context,
      realmId: realm.id,
      path: '$',
    },
  );
  const user: User = {
    ...before,
    username: built.username,
    ...givenFields(given, built, [
      'firstName',
      'lastName',
      'email',
      'emailVerified',
      'enabled',
      'requiredActions',
    ]),
    ...givenFields(given, built, ['attributes', 'notBefore']),
    kept: { ...before.kept, ...built.kept },
  };
  const cleared = withoutCleared(user, given);
  checkProfile(configuration, cleared, before);
  await checkTaken(call, cleared);
  const credentials = await buildCredentials(given['credentials'], id, {
    context,
    passwordPolicy: realm.settings.passwordPolicy,
    path: '$.credentials',
  });
  const old = credentials.length === 0 ? [] : await context.store.listCredentials(id);
  const replaced = old.filter(({ type }) => credentials.some((credential) => credential.type === type));
  for (const one of objects(given['credentials']))
    if (typeof one['value'] === 'string')
      await checkNewPassword(realm.settings.passwordPolicy, one['value'], cleared);
  await applyChanges(
    call,
    [
      { do: 'put', user: cleared },
      ...replaced.map((credential) => ({
        do: 'remove' as const,
        what: 'credential' as const,
        id: credential.id,
      })),
      ...credentials.map((credential) => ({ do: 'create' as const, credential })),
      ...(credentials.length === 0 ? [] : [{ do: 'endSessions' as const, userId: id, offlineToo: true }]),
    ],
    { operation: 'UPDATE', resource: 'USER', path: `users/${id}`, representation: given },
    userTaken,
  );
  if (given['enabled'] === true) await context.store.removeLoginFailures(realm.id, id);
}

/** Returns the fields of `built` that are in `names` and in the representation. */
function givenFields<K extends keyof User & string>(
  given: Json,
  built: User,
  names: readonly K[],
): Partial<Pick<User, K>> {
  return Object.fromEntries(
    names.filter((name) => given[name] !== undefined).map((name) => [name, built[name]]),
  ) as Partial<Pick<User, K>>;
}

/** Removes the text fields that the representation sets to an empty string. */
function withoutCleared(user: User, given: Json): User {
  const { email, firstName, lastName, ...rest } = user;
  const keep = (name: string, value: string | undefined) => (given[name] === '' ? undefined : value);
  return {
    ...rest,
    ...defined({
      email: keep('email', email),
      firstName: keep('firstName', firstName),
      lastName: keep('lastName', lastName),
    }),
  };
}

/**
 * Removes a user with its sessions and credentials. The user moves to the bin.
 *
 * @param now erases the user for good instead
 * @throws AdminRefusal 404
 */
export async function deleteUser(call: RealmCall, id: string, now = false): Promise<void> {
  const user = await getUser(call, id);
  await applyChanges(call, [{ do: 'remove', what: 'user', id, ...keeping(call.context, call.caller, now) }], {
    operation: 'DELETE',
    resource: 'USER',
    path: now ? `users/${id}?now=true` : `users/${id}`,
    representation: briefUserRepresentation(user),
  });
}
