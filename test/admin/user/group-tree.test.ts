import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupIdsByPath, groupTree, matchingWithParents } from '../../../src/admin/user/group-tree.ts';
import type { Group } from '../../../src/model/index.ts';

function realm(groups: readonly (readonly [id: string, parentId?: string | undefined, name?: string])[]) {
  const made = groups.map(
    ([id, parentId, name = id]) => ({ id, name, ...(parentId === undefined ? {} : { parentId }) }) as Group,
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

test('sorts any number of groups by name, and lets other work run in between', async () => {
  for (const count of [1, 499, 500, 501, 1_501, 20_000]) {
    const made = Array.from({ length: count }, (_, i) => [`g${(i * 7919) % count}`, undefined] as const);
    const sorted = (await groupTree(realm([...new Map(made.map((one) => [one[0], one])).values()])))
      .get(undefined)!
      .map(({ name }) => name);
    assert.deepEqual(sorted, [...new Set(made.map(([id]) => id))].sort());
  }
  const many = realm(Array.from({ length: 50_000 }, (_, i) => [`group ${(i * 7919) % 50_000}`]));
  let turns = 0;
  let isBuilt = false;
  const turn = () => {
    turns++;
    if (!isBuilt) setImmediate(turn);
  };
  setImmediate(turn);
  await groupTree(many);
  isBuilt = true;
  assert.ok(turns > 3, `${turns} turns`);
});

test('finds a group by its path, also if names contain slashes', async () => {
  const paths = await groupIdsByPath(
    realm([
      ['staff'],
      ['a', 'staff'],
      ['slash', undefined, 'a/b'],
      ['below slash', 'slash', 'c'],
      ['outer', undefined, 'x/y'],
      ['x'],
      ['inner', 'x', 'y'],
      ['below outer', 'outer', 'only'],
      ['leading', undefined, '/z'],
    ]),
  );
  const found = (...list: string[]) => list.map((path) => paths.get(path));
  assert.deepEqual(found('/staff', '/staff/a', '/a/b', '/a/b/c'), ['staff', 'a', 'slash', 'below slash']);
  assert.deepEqual(found('/x/y', '/x/y/only', '//z'), ['inner', 'below outer', 'leading']);
  assert.deepEqual(
    found('/', '//', '/a', '/staff/', '/staff/b', '/staff/a/b', '/x/y/other', '/Staff'),
    Array(8).fill(undefined),
  );
});

test('finds a group among many, and names with slashes among them', async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `team ${i}${i % 5 === 0 ? '/blue' : ''}`);
  const paths = await groupIdsByPath(realm(names.map((name) => [name])));
  assert.deepEqual(
    names.map((name) => paths.get(`/${name}`)),
    names,
  );
  assert.equal(paths.get('/team 5'), undefined);
  assert.equal(paths.get(`/${'team/'.repeat(10_000)}`), undefined);
});

test('finds a group below thousands of others without building the paths of all of them', async () => {
  const name = (i: number) => `${i}`.padEnd(255, 'x');
  const chain = realm(
    Array.from({ length: 3_000 }, (_, i) => [`${i}`, i === 0 ? undefined : `${i - 1}`, name(i)]),
  );
  const before = process.memoryUsage().rss;
  const paths = await groupIdsByPath(chain);
  assert.equal(paths.get('/x'), undefined);
  const deepest = Array.from({ length: 3_000 }, (_, i) => `/${name(i)}`).join('');
  assert.equal(paths.get(deepest), '2999');
  const used = (process.memoryUsage().rss - before) / 1e6;
  assert.ok(used < 200, `${used} MB`);
});
