import { type Client, effectiveRoleIds, type Group, type User } from '../../model/index.ts';
import type { Change } from '../../store/index.ts';
import type { RealmCall } from '../call/context.ts';
import { forbidden } from '../call/refusal.ts';
import { checkGrants, checkGroupGrants, clientOfRole, isAdminRole } from './admin-roles.ts';

/**
 * What every change passes before it is stored: without the right to grant administrative roles, nobody takes one away,
 * moves or removes a group that carries one, removes a role that includes one, or changes a user who holds one.
 *
 * @throws AdminRefusal 403
 */
export async function checkAdministrators(call: RealmCall, changes: readonly Change[]): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  const { configuration, context } = call;
  for (const change of changes) {
    await checkGrants(call, rolesTaken(call, change));
    await checkGroupGrants(call, groupsTaken(call, change));
    const userId = changedUser(change);
    const user =
      userId === undefined ? undefined : await context.store.findUser(configuration.realm.id, userId);
    if (user !== undefined) await checkMayChange(call, user);
    if (change.do === 'put' && 'client' in change) await checkProof(call, change.client);
  }
}

/** What a client proves itself by is changed by those alone who may act as its service account. @throws AdminRefusal 403 */
async function checkProof(call: RealmCall, client: Client): Promise<void> {
  const before = await call.context.store.findClientByUuid(call.configuration.realm.id, client.id);
  if (before === undefined || proofOf(before) === proofOf(client)) return;
  if (!(await mayActAs(call, client))) throw forbidden();
}

/** Attributes that hold, or lead to, the key of a client. */
const KEY_ATTRIBUTE = /^(?:use\.jwks|jwks|jwt\.credential|x509|client\.secret)\b/;

/** With its name: a token of a client credential says no more of whom it is for. */
function proofOf({ clientId, clientAuthenticatorType, publicClient, secrets, attributes }: Client): string {
  const revealed = Object.entries(secrets).map(([pointer, secret]) => [pointer, secret.reveal()]);
  const keys = Object.entries(attributes).filter(([name]) => KEY_ATTRIBUTE.test(name));
  return JSON.stringify([clientId, clientAuthenticatorType, publicClient, revealed.sort(), keys.sort()]);
}

/**
 * Whether the caller may get tokens of the client's service account: with its secret, anybody can. Where the account
 * holds administrative roles, only those who may grant these.
 */
export async function mayActAs(call: RealmCall, client: Client): Promise<boolean> {
  const { context, rights } = call;
  if (rights.grantsAdminRoles || context.protectAdministrators === false) return true;
  const account = client.serviceAccountsEnabled
    ? await context.store.findServiceAccount(client.id)
    : undefined;
  return account === undefined || !(await holdsAdministrativeRole(call, account));
}

/**
 * Resetting, changing or removing a user who holds administrative roles needs the right to grant these. Keycloak does
 * not ask for it: there, `manage-users` is enough to set an administrator's password and log in with it. The setting
 * `admin.protectAdministrators` switches this off.
 *
 * @throws AdminRefusal 403
 */
export async function checkMayChange(call: RealmCall, user: User): Promise<void> {
  if (call.rights.grantsAdminRoles || call.context.protectAdministrators === false) return;
  if (await holdsAdministrativeRole(call, user)) throw forbidden();
}

async function holdsAdministrativeRole(call: RealmCall, user: User): Promise<boolean> {
  for (const id of effectiveRoleIds(call.configuration, user)) {
    const role = call.configuration.roles.get(id)!;
    if (isAdminRole(call.configuration, role, await clientOfRole(call, role))) return true;
  }
  return false;
}

/**
 * Who chooses a key of the realm can sign a token of anybody, so that needs the right to grant administrative roles; a
 * key that idkit makes does not.
 *
 * @throws AdminRefusal 403
 */
export function checkMayChooseKeys({ rights, context }: RealmCall): void {
  if (!rights.grantsAdminRoles && context.protectAdministrators !== false) throw forbidden();
}

/** Roles that go with the change. */
function rolesTaken({ configuration }: RealmCall, change: Change): readonly string[] {
  const { roles } = configuration;
  if (change.do === 'unassign') return change.roleIds;
  if (change.do === 'remove' && change.what === 'role') return [change.id];
  if (change.do === 'remove' && change.what === 'client')
    return [...roles.values().filter(({ clientUuid }) => clientUuid === change.id)].map(({ id }) => id);
  if (change.do === 'put' && 'role' in change)
    return without(roles.get(change.role.id)?.compositeIds, change.role.compositeIds);
  if (change.do === 'put' && 'group' in change)
    return without(configuration.groups.get(change.group.id)?.roleIds, change.group.roleIds);
  return [];
}

function without(before: readonly string[] | undefined, after: readonly string[]): readonly string[] {
  return (before ?? []).filter((id) => !after.includes(id));
}

/** Groups whose members lose what the groups and those above them carry: left, removed or moved. */
function groupsTaken({ configuration }: RealmCall, change: Change): readonly string[] {
  const { groups } = configuration;
  if (change.do === 'leave') return [change.groupId];
  if (change.do === 'remove' && change.what === 'group') return withBelow(groups, change.id);
  if (change.do !== 'put' || !('group' in change)) return [];
  const { id, parentId } = change.group;
  return groups.get(id)?.parentId === parentId ? [] : withBelow(groups, id);
}

function withBelow(groups: ReadonlyMap<string, Group>, id: string): readonly string[] {
  const found = new Set([id]);
  for (const above of found)
    for (const group of groups.values()) if (group.parentId === above) found.add(group.id);
  return [...found];
}

/** The user whom a change is about; roles and groups of a user are checked by themselves. */
function changedUser(change: Change): string | undefined {
  if (change.do === 'put' && 'user' in change) return change.user.id;
  if ((change.do === 'put' || change.do === 'create') && 'credential' in change)
    return change.credential.userId;
  if (change.do === 'remove' && change.what === 'user') return change.id;
  return undefined;
}
