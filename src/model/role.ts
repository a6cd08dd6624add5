import type { Revised } from './record.ts';
import type { User } from './user.ts';

/** A realm role, or a client role where `clientUuid` is set (RoleRepresentation, facts §8.4). */
export interface Role extends Revised {
  id: string;
  realmId: string;
  name: string;
  description?: string;
  /** The client that the role belongs to; absent for a realm role. */
  clientUuid?: string;
  attributes: Readonly<Record<string, readonly string[]>>;
  /** Ids of the roles that this one includes. */
  compositeIds: readonly string[];
}

/** A group of users (GroupRepresentation). */
export interface Group extends Revised {
  id: string;
  realmId: string;
  name: string;
  description?: string;
  /** Absent for a top-level group. */
  parentId?: string;
  attributes: Readonly<Record<string, readonly string[]>>;
  roleIds: readonly string[];
  /** New users of the realm join it. */
  isDefault: boolean;
}

/** What role resolution needs of a realm; the store's RealmConfiguration is one. */
export interface RoleGraph {
  roles: ReadonlyMap<string, Role>;
  groups: ReadonlyMap<string, Group>;
}

/** Users with the same roles and groups share one answer; what is remembered per realm is bounded. */
const REMEMBERED_USERS = 10_000;
const memory = new WeakMap<RoleGraph, Map<string, ReadonlySet<string>>>();

/**
 * Ids of every role that a user has: direct ones, those of the user's groups and their parents, and all that
 * these include. Circles among composites and groups end. Ids of roles or groups that are not there are left out.
 *
 * @param graph not changed afterwards: equal users of one graph get the same set object
 */
export function effectiveRoleIds(
  graph: RoleGraph,
  user: Pick<User, 'roleIds' | 'groupIds'>,
): ReadonlySet<string> {
  let users = memory.get(graph);
  if (users === undefined) {
    users = new Map();
    memory.set(graph, users);
  }
  // No id holds a NUL byte, so no other list of ids has this key, whatever ids an import chose.
  const key = [user.roleIds.length, user.groupIds.length, ...user.roleIds, ...user.groupIds].join('\0');
  const known = users.get(key);
  if (known !== undefined) return known;
  const start = [...user.roleIds];
  for (const group of groupsWithParents(graph, user.groupIds)) start.push(...group.roleIds);
  const effective = expandRoleIds(graph, start);
  if (users.size >= REMEMBERED_USERS) users.clear();
  users.set(key, effective);
  return effective;
}

/** The roles with all that they include, composites resolved; circles end, unknown ids are left out. */
export function expandRoleIds(graph: Pick<RoleGraph, 'roles'>, ids: Iterable<string>): ReadonlySet<string> {
  const expanded = new Set<string>();
  const waiting = [...ids];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const role = graph.roles.get(id);
    if (role === undefined || expanded.has(id)) continue;
    expanded.add(id);
    waiting.push(...role.compositeIds);
  }
  return expanded;
}

/** The groups and all above them, each once. */
export function groupsWithParents(
  graph: Pick<RoleGraph, 'groups'>,
  groupIds: readonly string[],
): readonly Group[] {
  const found = new Map<string, Group>();
  for (const id of groupIds) {
    let group = graph.groups.get(id);
    while (group !== undefined && !found.has(group.id)) {
      found.set(group.id, group);
      group = group.parentId === undefined ? undefined : graph.groups.get(group.parentId);
    }
  }
  return [...found.values()];
}

/** A group's path, for example `/staff/finance`. A slash in a name stays as it is (Keycloak 26's default). */
export function groupPath(graph: Pick<RoleGraph, 'groups'>, group: Group): string {
  const names: string[] = [];
  const seen = new Set<string>();
  let next: Group | undefined = group;
  while (next !== undefined && !seen.has(next.id)) {
    seen.add(next.id);
    names.unshift(next.name);
    next = next.parentId === undefined ? undefined : graph.groups.get(next.parentId);
  }
  return `/${names.join('/')}`;
}
