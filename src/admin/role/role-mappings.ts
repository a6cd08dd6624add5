import {
  type Client,
  type ClientScope,
  effectiveRoleIds,
  expandRoleIds,
  type Group,
  type Role,
  type User,
} from '../../model/index.ts';
import type { Change } from '../../store/index.ts';
import { checkGrants } from '../access/admin-roles.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { notFound } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { namedRoles, type RoleOwner, roleRepresentation, rolesOf } from './roles.ts';

/**
 * The user or group that has the roles; or the client or client scope whose tokens may contain them (Keycloak: scope
 * mappings).
 */
export type RoleHolder =
  | { user: User }
  | { group: Group }
  | { client: Client }
  | { clientScope: ClientScope };

function directIds(holder: RoleHolder): readonly string[] {
  if ('user' in holder) return holder.user.roleIds;
  if ('group' in holder) return holder.group.roleIds;
  return 'client' in holder ? holder.client.scopeRoleIds : holder.clientScope.scopeRoleIds;
}

function effectiveIds({ configuration }: RealmCall, holder: RoleHolder): ReadonlySet<string> {
  if ('user' in holder) return effectiveRoleIds(configuration, holder.user);
  if ('client' in holder && holder.client.fullScopeAllowed) return new Set(configuration.roles.keys());
  return expandRoleIds(configuration, directIds(holder));
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
  const below = owner === 'realm' ? 'realm' : `clients/${owner.clientUuid}`;
  const { path, mapping } = placeOf(holder);
  await applyChanges(call, [changeOf(holder, roleIds, how)], {
    operation: how === 'add' ? 'CREATE' : 'DELETE',
    resource: owner === 'realm' ? `REALM_${mapping}` : `CLIENT_${mapping}`,
    path: `${path}/${below}`,
    representation: given,
  });
}

/** Returns the path of the holder's roles, and the kind of resource in admin events. */
function placeOf(holder: RoleHolder) {
  if ('user' in holder)
    return { path: `users/${holder.user.id}/role-mappings`, mapping: 'ROLE_MAPPING' } as const;
  if ('group' in holder)
    return { path: `groups/${holder.group.id}/role-mappings`, mapping: 'ROLE_MAPPING' } as const;
  const path = 'client' in holder ? `clients/${holder.client.id}` : `client-scopes/${holder.clientScope.id}`;
  return { path: `${path}/scope-mappings`, mapping: 'SCOPE_MAPPING' } as const;
}

function changeOf(holder: RoleHolder, roleIds: readonly string[], how: 'add' | 'remove'): Change {
  if ('user' in holder) return { do: how === 'add' ? 'assign' : 'unassign', userId: holder.user.id, roleIds };
  const others = directIds(holder).filter((id) => !roleIds.includes(id));
  const next = how === 'add' ? [...others, ...roleIds] : others;
  if ('group' in holder) return { do: 'put', group: { ...holder.group, roleIds: next } };
  if ('client' in holder) return { do: 'put', client: { ...holder.client, scopeRoleIds: next } };
  return { do: 'put', clientScope: { ...holder.clientScope, scopeRoleIds: next } };
}

/** Returns the client that a path names by its UUID, as the owner of roles. @throws AdminRefusal 404 */
export async function mappingClient(call: RealmCall, uuid: string): Promise<{ clientUuid: string }> {
  const client = await call.context.store.findClientByUuid(call.configuration.realm.id, uuid);
  if (client === undefined) throw notFound('Client not found');
  return { clientUuid: client.id };
}
