import { type Client, effectiveRoleIds, type Group, type User } from '../../model/index.ts';
import type { Change } from '../../store/index.ts';
import type { RealmCall } from '../call/context.ts';
import { forbidden } from '../call/refusal.ts';
import { checkGrants, checkGroupGrants, clientOfRole, isAdminRole } from './admin-roles.ts';

/**
 * Checks every change before it is stored. A caller without the right to grant administrative roles cannot:
 *
 * - revoke an administrative role
 * - move or remove a group that has an administrative role
 * - remove a role that includes an administrative role
 * - change a user who holds an administrative role
 * - change the credentials of a client whose service account holds an administrative role
 *
 * @throws AdminRefusal 403
 */
export async function checkAdministrators(call: RealmCall, changes: readonly Change[]): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  const { configuration, context } = call;
  for (const change of changes) {
    await checkGrants(call, rolesLost(call, change));
    await checkGroupGrants(call, groupsLost(call, change));
    const userId = changedUser(change);
    const user =
      userId === undefined ? undefined : await context.store.findUser(configuration.realm.id, userId);
    if (user !== undefined) await checkMayChange(call, user);
    if (change.do === 'put' && 'client' in change) await checkCredentials(call, change.client);
  }
}

/**
 * Refuses to change the credentials of a client unless the caller may act as its service account.
 *
 * @throws AdminRefusal 403
 */
async function checkCredentials(call: RealmCall, client: Client): Promise<void> {
  const before = await call.context.store.findClientByUuid(call.configuration.realm.id, client.id);
  if (before === undefined || credentialsOf(before) === credentialsOf(client)) return;
  if (!(await mayActAs(call, client))) throw forbidden();
}

/** Attributes that contain a client's key or the address of that key. */
const KEY_ATTRIBUTE = /^(?:use\.jwks|jwks|jwt\.credential|x509|client\.secret)\b/;

/**
 * Returns a text that changes if the client's credentials change. The text includes the client id, because a client
 * assertion identifies its client only by this id.
 */
function credentialsOf({
  clientId,
  clientAuthenticatorType,
  publicClient,
  secrets,
  attributes,
}: Client): string {
  const revealed = Object.entries(secrets).map(([pointer, secret]) => [pointer, secret.reveal()]);
  const keys = Object.entries(attributes).filter(([name]) => KEY_ATTRIBUTE.test(name));
  return JSON.stringify([clientId, clientAuthenticatorType, publicClient, revealed.sort(), keys.sort()]);
}

/**
 * Reports whether the caller may see or change a client's secret. The secret gives access to the client's service
 * account. If that account holds administrative roles, the caller needs the right to grant them.
 */
export async function mayActAs(call: RealmCall, client: Client): Promise<boolean> {
  const { context, rights } = call;
  if (rights.grantsAdminRoles || context.protectAdministrators === false) return true;
  // A partial import can disable the service account and leave it to a caller who enables it again.
  const account = await context.store.findServiceAccount(client.id);
  return account === undefined || !(await holdsAdministrativeRole(call, account));
}

/**
 * Refuses to change or remove a user who holds administrative roles, or to reset such a user's password, unless the
 * caller may grant these roles. Keycloak does not check this: with `manage-users` a caller can set an administrator's
 * password and log in with it. The setting `admin.protectAdministrators` disables the check.
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
 * Refuses a key that the caller chose for a realm, unless the caller may grant administrative roles: the key can sign
 * any user's token. A key that idkit generates needs no such right.
 *
 * @throws AdminRefusal 403
 */
export function checkMayChooseKeys({ rights, context }: RealmCall): void {
  if (!rights.grantsAdminRoles && context.protectAdministrators !== false) throw forbidden();
}

/** Returns the roles that users lose through the change. */
function rolesLost({ configuration }: RealmCall, change: Change): readonly string[] {
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

/**
 * Returns the groups whose members lose inherited roles, because the change removes a member, or removes or moves a
 * group.
 */
function groupsLost({ configuration }: RealmCall, change: Change): readonly string[] {
  const { groups } = configuration;
  if (change.do === 'leave') return [change.groupId];
  if (change.do === 'remove' && change.what === 'group') return withBelow(groups, change.id);
  if (change.do !== 'put' || !('group' in change)) return [];
  const { id, parentId } = change.group;
  return groups.get(id)?.parentId === parentId ? [] : withBelow(groups, id);
}

function withBelow(groups: ReadonlyMap<string, Group>, id: string): readonly string[] {
  const subtree = new Set([id]);
  for (const above of subtree)
    for (const group of groups.values()) if (group.parentId === above) subtree.add(group.id);
  return [...subtree];
}

/** Returns the user whose record or credential changes. Changes of roles and groups are checked separately. */
function changedUser(change: Change): string | undefined {
  if (change.do === 'put' && 'user' in change) return change.user.id;
  if ((change.do === 'put' || change.do === 'create') && 'credential' in change)
    return change.credential.userId;
  if (change.do === 'remove' && change.what === 'user') return change.id;
  return undefined;
}
