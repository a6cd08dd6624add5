import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  effectiveRoleIds,
  expandRoleIds,
  type Group,
  groupPath,
  groupsWithParents,
  type Role,
} from '../../src/model/index.ts';

const role = (id: string, ...compositeIds: string[]): [string, Role] => [
  id,
  { id, realmId: 'r', name: id, attributes: {}, compositeIds },
];
const group = (id: string, roleIds: string[], parentId?: string): [string, Group] => [
  id,
  {
    id,
    realmId: 'r',
    name: id,
    attributes: {},
    roleIds,
    isDefault: false,
    ...(parentId ? { parentId } : {}),
  },
];

const graph = {
  roles: new Map([role('a', 'b'), role('b', 'c', 'a'), role('c'), role('d'), role('e', 'gone')]),
  groups: new Map([
    group('top', ['d']),
    group('sub', ['e'], 'top'),
    group('x', [], 'y'),
    group('y', [], 'x'),
  ]),
};

test('effective roles contain the roles of groups and their parents, and all roles that these include', () => {
  const roles = effectiveRoleIds(graph, { roleIds: ['a'], groupIds: ['sub'] });
  assert.deepEqual([...roles].sort(), ['a', 'b', 'c', 'd', 'e']);
});

test('resolves cycles of roles and groups, and skips unknown ids', () => {
  assert.deepEqual([...expandRoleIds(graph, ['b', 'nothing'])].sort(), ['a', 'b', 'c']);
  assert.deepEqual([...effectiveRoleIds(graph, { roleIds: ['nothing'], groupIds: ['x', 'nothing'] })], []);
  assert.deepEqual(
    groupsWithParents(graph, ['x', 'y'])
      .map((one) => one.id)
      .sort(),
    ['x', 'y'],
  );
  assert.equal(groupPath(graph, graph.groups.get('x')!), '/y/x');
});

test('users with the same roles and groups get the same set object', () => {
  const of = (...roleIds: string[]) => effectiveRoleIds(graph, { roleIds, groupIds: [] });
  assert.equal(of('a'), of('a'));
  assert.notEqual(of('a'), of('d'));
});

test('the path of a group contains its parents, starting at the top', () => {
  assert.equal(groupPath(graph, graph.groups.get('sub')!), '/top/sub');
});

test('users with different roles or groups never share a set object, whatever their ids contain', () => {
  const roles = new Map([role('a'), role('b'), role('a b'), role('a b/'), role('a/b')]);
  const odd = { roles, groups: new Map([group('b', ['b'])]) };
  const of = (roleIds: string[], groupIds: string[] = []) =>
    [...effectiveRoleIds(odd, { roleIds, groupIds })].sort();
  assert.deepEqual(of(['a', 'b']), ['a', 'b']);
  assert.deepEqual(of(['a b']), ['a b']);
  assert.deepEqual(of(['a b/']), ['a b/']);
  assert.deepEqual(of(['a'], ['b']), ['a', 'b']);
  assert.deepEqual(of(['a/b']), ['a/b']);
});

test('a role may include hundreds of thousands of roles', () => {
  const ids = Array.from({ length: 300_000 }, (_, index) => `role-${index}`);
  const role = (id: string, compositeIds: string[] = []) => ({
    id,
    realmId: 'realm',
    name: id,
    attributes: {},
    compositeIds,
  });
  const roles = new Map(ids.map((id) => [id, role(id)]));
  roles.set('all', role('all', ids));
  const graph = { roles, groups: new Map() };
  const user = { roleIds: ['all'], groupIds: [] };
  assert.equal(effectiveRoleIds(graph, user).size, ids.length + 1);
  assert.equal(effectiveRoleIds(graph, user), effectiveRoleIds(graph, { ...user }));
});
