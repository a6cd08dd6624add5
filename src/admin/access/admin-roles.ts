import { type Client, expandRoleIds, groupsWithParents, type Role } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { RealmCall } from '../call/context.ts';
import { forbidden } from '../call/refusal.ts';
import { ADMIN_ROLES, MASTER } from '../defaults/built-in-clients.ts';

const NAMES: ReadonlySet<string> = new Set<string>([...ADMIN_ROLES, 'realm-admin']);

/** The client that a role belongs to, or undefined for one of the realm. */
export async function clientOfRole(
  { context, configuration }: RealmCall,
  role: Role,
): Promise<Client | undefined> {
  if (role.clientUuid === undefined) return undefined;
  return await context.store.findClientByUuid(configuration.realm.id, role.clientUuid);
}

/** Whether a role is an administrative one (facts §7.1). */
export function isAdminRole({ realm }: RealmConfiguration, role: Role, client: Client | undefined): boolean {
  const inMaster = realm.name === MASTER;
  if (client === undefined) return inMaster && (role.name === 'admin' || role.name === 'create-realm');
  return holdsAdminRoles(realm.name, client.clientId) && (!inMaster || NAMES.has(role.name));
}

/**
 * Rights go by the names of administrative roles, so only who may give them may make, rename or remove one.
 *
 * @throws AdminRefusal 403
 */
export async function checkNoAdminRole(call: RealmCall, role: Role): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  if (isAdminRole(call.configuration, role, await clientOfRole(call, role))) throw forbidden();
}

/** A client whose roles are the administrative ones of a realm. */
export function holdsAdminRoles(realm: string, clientId: string): boolean {
  return realm === MASTER ? clientId.endsWith('-realm') : clientId === 'realm-management';
}

/**
 * Giving a role, or taking it away, gives or takes all that it includes: only those who may grant an administrative
 * role may do so (facts §7.1, [26.5]; Keycloak 26.8 for taking away).
 *
 * @throws AdminRefusal 403
 */
export async function checkGrants(call: RealmCall, roleIds: readonly string[]): Promise<void> {
  if (call.rights.grantsAdminRoles) return;
  for (const id of expandRoleIds(call.configuration, roleIds)) {
    const role = call.configuration.roles.get(id)!;
    if (isAdminRole(call.configuration, role, await clientOfRole(call, role))) throw forbidden();
  }
}

/** Membership in a group gives the roles of the group and of all above it. @throws AdminRefusal 403 */
export async function checkGroupGrants(call: RealmCall, groupIds: readonly string[]): Promise<void> {
  const groups = groupsWithParents(call.configuration, groupIds);
  await checkGrants(
    call,
    groups.flatMap(({ roleIds }) => roleIds),
  );
}
