import { type Group, REVISION, type Role } from '../../model/index.ts';
import { badRequest } from '../call/refusal.ts';
import { type Json, strings, text } from '../representation/json.ts';
import type { PutBackWork } from './put-back.ts';

/**
 * Gives roles and memberships back to users that exist: each entry has `userId`, and the ids of `roles` and `groups` as
 * in the backup. They are lost when a client or a group is deleted.
 *
 * @throws AdminRefusal 400 for an entry without a user
 */
export async function addMembers(work: PutBackWork, given: readonly Json[]): Promise<void> {
  const { context, configuration } = work.call;
  let absent = 0;
  for (const one of given) {
    const userId = text(one['userId']);
    if (userId === undefined) throw badRequest('each entry of members must have a userId');
    const user = await context.store.findUser(configuration.realm.id, userId);
    if (user === undefined) {
      absent += 1;
      continue;
    }
    const has = new Set([...user.roleIds, ...user.groupIds]);
    const roleIds = strings(one['roles']).flatMap((id) => roleNow(work, id) ?? []);
    const groupIds = strings(one['groups']).flatMap((id) => groupNow(work, id) ?? []);
    const newRoles = roleIds.filter((id) => !has.has(id));
    const newGroups = groupIds.filter((id) => !has.has(id));
    if (newRoles.length > 0) {
      work.changes.push({ do: 'assign', userId, roleIds: newRoles });
      work.outcomes.push({ action: 'created', kind: 'roleMapping', name: user.username, id: userId });
    }
    for (const groupId of newGroups) {
      work.changes.push({ do: 'join', userId, groupId });
      work.outcomes.push({ action: 'created', kind: 'membership', name: user.username, id: userId });
    }
    work.granted.roleIds.push(...newRoles);
    work.granted.groupIds.push(...newGroups);
  }
  if (absent > 0)
    work.notes.push(
      `${absent} users of the backup do not exist any more, so they get no role or membership back`,
    );
}

/**
 * Adds roles to records that included them: each entry has `roleId` (a composite role) or `groupId`, and `roles`, the
 * ids of the included roles as in the backup.
 *
 * @throws AdminRefusal 400
 */
export function addComposites(work: PutBackWork, given: readonly Json[]): void {
  const { roles, groups } = work.call.configuration;
  for (const one of given) {
    const [roleId, groupId] = [text(one['roleId']), text(one['groupId'])];
    if ((roleId === undefined) === (groupId === undefined))
      throw badRequest('each entry of composites must have either a roleId or a groupId');
    const role = roleId === undefined ? undefined : roles.get(work.resolved.roleIds.get(roleId) ?? roleId);
    const group =
      groupId === undefined ? undefined : groups.get(work.resolved.groupIds.get(groupId) ?? groupId);
    const owner = role ?? group;
    if (owner === undefined) {
      work.notes.push(`a role or group that included the roles does not exist any more`);
      continue;
    }
    const before = role?.compositeIds ?? group!.roleIds;
    const added = strings(one['roles']).flatMap((id) => roleNow(work, id) ?? []);
    const ids = [...new Set([...before, ...added])];
    if (ids.length === before.length) continue;
    const revision = { [REVISION]: owner[REVISION]! };
    if (role !== undefined)
      work.changes.push({ do: 'put', role: { ...role, compositeIds: ids, ...revision } as Role });
    else work.changes.push({ do: 'put', group: { ...group!, roleIds: ids, ...revision } as Group });
    work.outcomes.push({ action: 'changed', kind: 'composite', name: owner.name, id: owner.id });
    work.granted.roleIds.push(...added);
    if (group !== undefined) work.granted.groupIds.push(group.id);
  }
}

/** Returns the current id of a role of the backup, if the role exists or this call creates it. */
function roleNow({ resolved, created, call }: PutBackWork, id: string): string | undefined {
  const found = resolved.roleIds.get(id);
  if (found !== undefined) return found;
  return created.roles.has(id) || call.configuration.roles.has(id) ? id : undefined;
}

function groupNow({ resolved, created, call }: PutBackWork, id: string): string | undefined {
  const found = resolved.groupIds.get(id);
  if (found !== undefined) return found;
  return created.groups.has(id) || call.configuration.groups.has(id) ? id : undefined;
}
