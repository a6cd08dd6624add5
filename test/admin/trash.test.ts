import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AdminContext, expiryEvent } from '../../src/admin/index.ts';
import { systemRandom } from '../../src/core/index.ts';
import { aRealm, aUser, START } from '../conformance/store/records.ts';
import { newStore } from '../store/files.ts';

test('an expired entry becomes an admin event of its realm, or of master for a realm, without an administrator', async (t) => {
  const clock = { now: () => START * 1000 };
  const { store } = await newStore(t, { clock });
  const settings = { ...aRealm({}).settings, adminEventsEnabled: true };
  await store.apply([
    { do: 'create', realm: aRealm({ settings }) },
    { do: 'create', realm: aRealm({ id: 'master-id', name: 'master', settings }) },
    { do: 'create', realm: aRealm({ id: 'quiet', name: 'quiet' }) },
    { do: 'create', user: aUser({}) },
  ]);
  const context = { store, clock, random: systemRandom, baseUrl: '' } as unknown as AdminContext;
  const entry = {
    id: 'entry',
    realmId: 'realm-1',
    kind: 'user' as const,
    recordId: 'user-1',
    name: 'alice',
    deletedAt: START * 1000,
    deletedBy: { realmId: 'realm-1', userId: 'someone' },
    expiresAt: START,
    state: 'whole' as const,
  };
  const [event] = await expiryEvent(context, entry);
  assert.deepEqual(
    [event?.realmId, event?.operationType, event?.resourceType, event?.resourcePath, event?.authUserId],
    ['realm-1', 'DELETE', 'USER', 'trash/entry/expired', ''],
  );
  const [ofRealm] = await expiryEvent(context, { ...entry, kind: 'realm' });
  assert.deepEqual([ofRealm?.realmId, ofRealm?.resourceType], ['master-id', 'REALM']);
  // A realm without admin events has none, and a realm that does not exist any more cannot have one.
  assert.deepEqual(await expiryEvent(context, { ...entry, realmId: 'quiet' }), []);
  assert.deepEqual(await expiryEvent(context, { ...entry, realmId: 'gone' }), []);
});
