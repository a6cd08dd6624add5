import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importRealm } from '../../../src/admin/index.ts';
import { openPlace } from '../place.ts';

const withActions = (requiredActions: readonly string[]) => ({
  realm: 'acme',
  enabled: true,
  users: [{ username: 'alice', enabled: true, requiredActions }],
});

test('accepts 50 different required actions of 255 characters', async () => {
  await using place = await openPlace();
  const actions = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(255, 'x'));
  const given = withActions([...actions, ...actions]);
  const { realmId } = await importRealm(place.context, given, { source: 'file' });
  const alice = await place.context.store.findUserByUsername(realmId, 'alice');
  assert.deepEqual(alice!.requiredActions, actions);
});

test('rejects more required actions, and longer ones', async () => {
  await using place = await openPlace();
  const fault = (what: string) => (error: unknown) => {
    assert.match(String(error), new RegExp(`\\$\\.users\\[0\\]\\.requiredActions: ${what}`));
    return true;
  };
  const imported = (actions: readonly string[]) =>
    importRealm(place.context, withActions(actions), { source: 'file' });
  await assert.rejects(
    imported(Array.from({ length: 51 }, (_, i) => `${i}`)),
    fault('a user may have at most 50 required actions, but 51 are given'),
  );
  await assert.rejects(
    imported(['UPDATE_PASSWORD', 'x'.repeat(256)]),
    fault('the name of a required action may have at most 255 characters, but one has 256'),
  );
});
