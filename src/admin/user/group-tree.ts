import { Slices } from '../../core/index.ts';
import type { Group } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** Number of groups that are sorted before other work can run. Sorting them takes less than a millisecond. */
const SORTED_AT_ONCE = 500;
/** Number of groups that are merged before other work can run. */
const MERGED_AT_ONCE = 1_000;
/** Number of groups that are compared with a path one by one. A longer list is searched. */
const FEW = 16;

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
  for (const [parentId, siblings] of tree) {
    if (slices.isOver) await slices.pause();
    if (siblings.length > 1) tree.set(parentId, await sortByName(siblings, slices));
  }
  return tree;
}

/** Sorts short parts of the list, and merges them. */
async function sortByName(groups: readonly Group[], slices: Slices): Promise<Group[]> {
  let parts: Group[][] = [];
  for (let from = 0; from < groups.length; from += SORTED_AT_ONCE) {
    if (slices.isOver) await slices.pause();
    const part = groups.slice(from, from + SORTED_AT_ONCE);
    parts.push(part.sort((one, other) => (one.name < other.name ? -1 : 1)));
  }
  while (parts.length > 1) {
    const merged: Group[][] = [];
    for (let index = 0; index < parts.length; index += 2)
      merged.push(await merge(parts[index]!, parts[index + 1] ?? [], slices));
    parts = merged;
  }
  return parts[0] ?? [];
}

async function merge(one: readonly Group[], other: readonly Group[], slices: Slices): Promise<Group[]> {
  const merged: Group[] = [];
  for (let left = 0, right = 0; left < one.length || right < other.length; ) {
    if (merged.length % MERGED_AT_ONCE === 0 && slices.isOver) await slices.pause();
    const [first, second] = [one[left], other[right]];
    const isRight = first === undefined || (second !== undefined && second.name < first.name);
    merged.push((isRight ? second : first)!);
    if (isRight) right++;
    else left++;
  }
  return merged;
}

/** Returns the id of the group with a path such as `/staff/finance`. */
export interface GroupPaths {
  get(path: string): string | undefined;
}

/**
 * Finds groups by their path, one group after the other from the top, because the paths of all groups together can be
 * very long. A name can contain slashes. If several groups have the path, finds the one with the shortest name at the
 * first level where they differ, as Keycloak does.
 */
export async function groupIdsByPath(configuration: Pick<RealmConfiguration, 'groups'>): Promise<GroupPaths> {
  const tree = await groupTree(configuration);
  return { get: (path) => findByPath(tree, path)?.id };
}

function findByPath(tree: GroupTree, path: string): Group | undefined {
  /** The positions in the path at which a name can end. */
  const ends = [...path.matchAll(/(?!^)\/|$/g)].map(({ index }) => index);
  /** The groups whose path begins like this one, and where their names end. The search continues with the last one. */
  const open: { group?: Group; end: number }[] = [{ end: 0 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { group, end } = at;
    if (group !== undefined && end === path.length) return group;
    for (const child of childrenOnPath(tree.get(group?.id) ?? [], { path, from: end + 1, ends }))
      open.push({ group: child, end: end + 1 + child.name.length });
  }
  return undefined;
}

/** Returns those of the sorted groups whose names are in the path at `from`. The longest name is the first. */
function childrenOnPath(
  groups: readonly Group[],
  { path, from, ends }: { path: string; from: number; ends: readonly number[] },
): readonly Group[] {
  const first = groups.length <= FEW ? 0 : firstIndex(ends.length, (index) => ends[index]! >= from);
  if (groups.length <= FEW || groups.length <= ends.length - first)
    return groups
      .filter(({ name }) => path.startsWith(name, from) && isEnd(path, from + name.length))
      .sort((one, other) => other.name.length - one.name.length);
  const found: Group[] = [];
  for (const end of ends.slice(first).reverse()) {
    const name = path.slice(from, end);
    const group = groups[firstIndex(groups.length, (index) => groups[index]!.name >= name)];
    if (group?.name === name) found.push(group);
  }
  return found;
}

function isEnd(path: string, position: number): boolean {
  return position === path.length || path[position] === '/';
}

/** Returns the first index for which `isReached` is true, or `length`. It must be true for all indexes after that too. */
function firstIndex(length: number, isReached: (index: number) => boolean): number {
  let low = 0;
  for (let high = length; low < high; ) {
    const middle = (low + high) >> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
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
