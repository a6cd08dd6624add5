import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUser, importPartially, importRealm, showGroupByPath } from '../../../src/admin/index.ts';
import { callIn, openPlace } from '../place.ts';

test('every way to name a group by its path finds the same group', async () => {
  await using place = await openPlace();
  const { context } = place;
  const { store } = context;
  const groups = [{ name: 'staff', subGroups: [{ name: 'a/b', subGroups: [{ name: 'c' }] }] }];
  const { realmId } = await importRealm(context, { realm: 'x', enabled: true, groups }, { source: 'x' });
  const call = () => callIn(context, 'x');
  const { id, path } = await showGroupByPath(await call(), 'staff/a/b/c');
  assert.equal(path, '/staff/a/b/c');
  await assert.rejects(async () => showGroupByPath(await call(), 'staff/a'), /Group path does not exist/);

  const created = await createUser(await call(), { username: 'alice', groups: ['staff/a/b/c'] });
  assert.deepEqual((await store.findUser(realmId, created))!.groupIds, [id]);
  await assert.rejects(
    async () => createUser(await call(), { username: 'bob', groups: ['/staff/a'] }),
    /the group "\/staff\/a" does not exist/,
  );

  const users = [
    { username: 'carol', groups: ['/staff/a/b/c'] },
    { username: 'dave', groups: ['new', 'staff'] },
  ];
  await importPartially(await call(), { users, groups: [{ name: 'new' }] }, 'FAIL');
  assert.deepEqual((await store.findUserByUsername(realmId, 'carol'))!.groupIds, [id]);
  assert.equal((await store.findUserByUsername(realmId, 'dave'))!.groupIds.length, 2);
  await assert.rejects(
    async () => importPartially(await call(), { users: [], groups: [{ name: 'staff' }] }, 'FAIL'),
    /Group '\/staff' already exists/,
  );
  await assert.rejects(
    async () => importPartially(await call(), { users: [{ username: 'eve', groups: ['/staff/a'] }] }, 'FAIL'),
    /no group is called "\/staff\/a"/,
  );
});
