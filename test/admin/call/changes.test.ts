import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createUser,
  importRealm,
  type RealmCall,
  updateRealm,
  updateUser,
} from '../../../src/admin/index.ts';
import { recordKey } from '../../../src/model/index.ts';
import { callIn, openPlace } from '../place.ts';

test('throws if a call changes a record that it has not locked, and stores nothing', async () => {
  await using place = await openPlace();
  const { context } = place;
  const { realmId } = await importRealm(context, { realm: 'x', enabled: true }, { source: 'x' });
  const call = async (turns: readonly string[]): Promise<RealmCall> => ({
    ...(await callIn(context, 'x')),
    turns: new Set(turns),
  });
  const id = await createUser(await call([]), { username: 'bob', enabled: true });
  const other = recordKey('user', 'another');
  await assert.rejects(
    async () => updateUser(await call([other]), id, { firstName: 'Bob' }),
    new RegExp(`the call changes user:${id}, which it has not locked`),
  );
  assert.equal((await context.store.findUser(realmId, id))!.firstName, undefined);
  await updateUser(await call([recordKey('user', id)]), id, { firstName: 'Bob' });
  assert.equal((await context.store.findUser(realmId, id))!.firstName, 'Bob');
  await assert.rejects(async () => updateRealm(await call([]), { displayName: 'X' }), /realm:/);
});
