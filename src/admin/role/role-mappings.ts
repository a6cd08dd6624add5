import { effectiveRoleIds, expandRoleIds, type Group, type Role, type User } from '../../model/index.ts';
import type { Change } from '../../store/index.ts';
import { checkGrants } from '../access/admin-roles.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { notFound } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { namedRoles, type RoleOwner, roleRepresentation, rolesOf } from './roles.ts';

/** The user or group that has the roles. */
export type RoleHolder = { user: User } | { group: Group };

function directIds(holder: RoleHolder): readonly string[] {
  return 'user' in holder ? holder.user.roleIds : holder.group.roleIds;
}

function effectiveIds({ configuration }: RealmCall, holder: RoleHolder): ReadonlySet<string> {
  if ('user' in holder) return effectiveRoleIds(configuration, holder.user);
  return expandRoleIds(configuration, holder.group.roleIds);
}

/** Lists the roles that the holder has directly: realm roles, and client roles by client. */
export async function listMappings(call: RealmCall, holder: RoleHolder): Promise<Json> {
  const { context, configuration } = call;
  const realmMappings: Json[] = [];
  const byClient = new Map<string, Json[]>();
  for (const id of directIds(holder)) {
    const role = configuration.roles.get(id);
    if (role === undefined) continue;
    if (role.clientUuid === undefined) realmMappings.push(roleRepresentation(role));
    else byClient.set(role.clientUuid, [...(byClient.get(role.clientUuid) ?? []), roleRepresentation(role)]);
  }
  const clientMappings: [string, Json][] = [];
  for (const [uuid, mappings] of byClient) {
    const client = await context.store.findClientByUuid(configuration.realm.id, uuid);
    if (client !== undefined)
      clientMappings.push([client.clientId, { id: uuid, client: client.clientId, mappings }]);
  }
  return {
    ...(realmMappings.length === 0 ? {} : { realmMappings }),
    ...(clientMappings.length === 0 ? {} : { clientMappings: Object.fromEntries(clientMappings) }),
  };
}

/**
 * Lists roles of one owner: those that the holder has directly (`direct`), those that it has directly or through other
 * roles (`composite`), or those that it does not have directly (`available`).
 */
export function listMappingsOf(
  call: RealmCall,
  holder: RoleHolder,
  owner: RoleOwner,
  which: 'direct' | 'composite' | 'available',
): Json[] {
  const direct = new Set(directIds(holder));
  const effective = which === 'composite' ? effectiveIds(call, holder) : direct;
  return rolesOf(call, owner)
    .filter((role) => (which === 'available' ? !direct.has(role.id) : effective.has(role.id)))
    .map((role) => roleRepresentation(role));
}

/** Grants or revokes roles of one owner. As in Keycloak 26, repeating the call is not an error. @throws AdminRefusal */
export async function changeMappings(
  call: RealmCall,
  holder: RoleHolder,
  owner: RoleOwner,
  given: readonly Json[],
  how: 'add' | 'remove',
): Promise<void> {
  const roles: Role[] = namedRoles(call, given, 'Role not found', owner);
  const roleIds = roles.map(({ id }) => id);
  await checkGrants(call, roleIds);
  const place = 'user' in holder ? `users/${holder.user.id}` : `groups/${holder.group.id}`;
  const below = owner === 'realm' ? 'realm' : `clients/${owner.clientUuid}`;
  await applyChanges(call, [changeOf(holder, roleIds, how)], {
    operation: how === 'add' ? 'CREATE' : 'DELETE',
    resource: owner === 'realm' ? 'REALM_ROLE_MAPPING' : 'CLIENT_ROLE_MAPPING',
    path: `${place}/role-mappings/${below}`,
    representation: given,
  });
}

function changeOf(holder: RoleHolder, roleIds: readonly string[], how: 'add' | 'remove'): Change {
  if ('user' in holder) return { do: how === 'add' ? 'assign' : 'unassign', userId: holder.user.id, roleIds };
  const { group } = holder;
  const others = group.roleIds.filter((id) => !roleIds.includes(id));
  return { do: 'put', group: { ...group, roleIds: how === 'add' ? [...others, ...roleIds] : others } };
}

/** Returns the client that a path names by its UUID, as the owner of roles. @throws AdminRefusal 404 */
export async function mappingClient(call: RealmCall, uuid: string): Promise<{ clientUuid: string }> {
  const client = await call.context.store.findClientByUuid(call.configuration.realm.id, uuid);
  if (client === undefined) throw notFound('Client not found');
  return { clientUuid: client.id };
}
