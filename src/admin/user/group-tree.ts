import { mapInSlices, Slices } from '../../core/index.ts';
import { type Group, groupPath } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** The groups of a realm by the id of their parent, or undefined for top-level groups. Each list is sorted by name. */
export type GroupTree = ReadonlyMap<string | undefined, readonly Group[]>;

type Groups = RealmConfiguration['groups'];

const trees = new WeakMap<Groups, Promise<GroupTree>>();

/** Returns the tree of a realm's groups. It is built once, in slices, and used until the realm changes. */
export function groupTree({ groups }: Pick<RealmConfiguration, 'groups'>): Promise<GroupTree> {
  let tree = trees.get(groups);
  if (tree === undefined) {
    tree = buildTree(groups);
    trees.set(groups, tree);
  }
  return tree;
}

async function buildTree(groups: Groups): Promise<GroupTree> {
  const slices = new Slices();
  const tree = new Map<string | undefined, Group[]>();
  for (const group of groups.values()) {
    if (slices.isOver) await slices.pause();
    const siblings = tree.get(group.parentId);
    if (siblings === undefined) tree.set(group.parentId, [group]);
    else siblings.push(group);
  }
  for (const siblings of tree.values()) {
    if (slices.isOver) await slices.pause();
    siblings.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
  return tree;
}

const paths = new WeakMap<Groups, Promise<ReadonlyMap<string, string>>>();

/** Returns the id of each group by its path, such as `/staff/finance`. Used until the realm changes, as `groupTree`. */
export function groupIdsByPath({
  groups,
}: Pick<RealmConfiguration, 'groups'>): Promise<ReadonlyMap<string, string>> {
  let ids = paths.get(groups);
  if (ids === undefined) {
    ids = mapInSlices(groups.values(), (group) => [groupPath({ groups }, group), group.id] as const).then(
      (entries) => new Map(entries),
    );
    paths.set(groups, ids);
  }
  return ids;
}

/**
 * Returns the ids of the groups that match, and of all groups above them.
 *
 * @param matches called once for each group
 */
export async function matchingWithParents(
  { groups }: Pick<RealmConfiguration, 'groups'>,
  matches: (group: Group) => boolean,
): Promise<ReadonlySet<string>> {
  const slices = new Slices();
  const found = new Set<string>();
  for (const group of groups.values()) {
    if (slices.isOver) await slices.pause();
    if (!matches(group)) continue;
    for (let one: Group | undefined = group; one !== undefined && !found.has(one.id); ) {
      found.add(one.id);
      one = one.parentId === undefined ? undefined : groups.get(one.parentId);
    }
  }
  return found;
}
