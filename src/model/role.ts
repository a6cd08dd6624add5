import type { ClientUuid, RealmId } from './ids.ts';
import type { Revised } from './record.ts';
import type { User } from './user.ts';

/** A realm role, or a client role if `clientUuid` is set (RoleRepresentation). */
export interface Role extends Revised {
  id: string;
  realmId: RealmId;
  name: string;
  description?: string;
  /** The client that owns the role. Absent for a realm role. */
  clientUuid?: ClientUuid;
  attributes: Readonly<Record<string, readonly string[]>>;
  /** Ids of the roles that this one includes. */
  compositeIds: readonly string[];
}

/** A group of users (GroupRepresentation). */
export interface Group extends Revised {
  id: string;
  realmId: RealmId;
  name: string;
  description?: string;
  /** Absent for a top-level group. */
  parentId?: string;
  attributes: Readonly<Record<string, readonly string[]>>;
  roleIds: readonly string[];
  /** If true, new users of the realm join the group. */
  isDefault: boolean;
}

/** The data of a realm that determines effective roles. A `RealmConfiguration` of the store contains it. */
export interface RoleGraph {
  roles: ReadonlyMap<string, Role>;
  groups: ReadonlyMap<string, Group>;
}

/** Maximum number of cached results per realm. Users with the same roles and groups share one result. */
const REMEMBERED_USERS = 10_000;
/** Maximum number of ids in the cached results per realm. An administrator of a thousand realms has 20,000 roles. */
const REMEMBERED_IDS = 400_000;

/** The cached results of one realm. */
interface Remembered {
  results: Map<string, ReadonlySet<string>>;
  ids: number;
}

const memory = new WeakMap<RoleGraph, Remembered>();

/**
 * Returns the ids of all roles of a user: direct roles, those of the user's groups and their parents, and all roles
 * that these include. Resolves cycles of roles and groups, and skips unknown ids.
 *
 * @param graph must not change afterwards, because users with the same roles and groups get the same set object
 */
export function effectiveRoleIds(
  graph: RoleGraph,
  user: Pick<User, 'roleIds' | 'groupIds'>,
): ReadonlySet<string> {
  let users = memory.get(graph);
  if (users === undefined) {
    users = { results: new Map(), ids: 0 };
    memory.set(graph, users);
  }
  // Ids do not contain NUL, even in an import, so different lists of ids have different keys.
  const key = [user.roleIds.length, user.groupIds.length, ...user.roleIds, ...user.groupIds].join('\0');
  const known = users.results.get(key);
  if (known !== undefined) return known;
  const start = [...user.roleIds];
  for (const group of groupsWithParents(graph, user.groupIds)) for (const id of group.roleIds) start.push(id);
  const effective = expandRoleIds(graph, start);
  users.ids += effective.size;
  if (users.results.size >= REMEMBERED_USERS || users.ids > REMEMBERED_IDS) {
    users.results.clear();
    users.ids = effective.size;
  }
  users.results.set(key, effective);
  return effective;
}

/** Returns the ids of the roles and of all roles that they include. Resolves cycles, and skips unknown ids. */
export function expandRoleIds(graph: Pick<RoleGraph, 'roles'>, ids: Iterable<string>): ReadonlySet<string> {
  const expanded = new Set<string>();
  const waiting = [...ids];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const role = graph.roles.get(id);
    if (role === undefined || expanded.has(id)) continue;
    expanded.add(id);
    // An administrator of a thousand realms has a role that includes 20,000 others.
    for (const included of role.compositeIds) if (!expanded.has(included)) waiting.push(included);
  }
  return expanded;
}

/** Returns the groups and all their parents, without duplicates. */
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

/**
 * Returns a group's path, for example `/staff/finance`. As in Keycloak 26, a slash in a name is not escaped by default.
 */
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
