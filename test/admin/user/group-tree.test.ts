import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupTree, matchingWithParents } from '../../../src/admin/user/group-tree.ts';
import type { Group } from '../../../src/model/index.ts';

function realm(groups: readonly (readonly [id: string, parentId?: string])[]) {
  const made = groups.map(
    ([id, parentId]) => ({ id, name: id, ...(parentId === undefined ? {} : { parentId }) }) as Group,
  );
  return { groups: new Map(made.map((group) => [group.id, group])) };
}

const acme = realm([['staff'], ['b', 'staff'], ['a', 'staff'], ['deep', 'a'], ['other'], ['below', 'other']]);

test('lists the groups below each parent, sorted by name, and builds the tree once', async () => {
  const tree = await groupTree(acme);
  const names = (parent: string | undefined) => tree.get(parent)?.map(({ name }) => name);
  assert.deepEqual(names(undefined), ['other', 'staff']);
  assert.deepEqual(names('staff'), ['a', 'b']);
  assert.deepEqual(names('deep'), undefined);
  assert.equal(await groupTree(acme), tree);
});

test('finds matching groups with all groups above them, and nothing below them', async () => {
  const found = await matchingWithParents(acme, ({ name }) => name === 'deep' || name === 'other');
  assert.deepEqual([...found].sort(), ['a', 'deep', 'other', 'staff']);
});
