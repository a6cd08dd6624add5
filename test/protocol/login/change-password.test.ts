import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { changePassword } from '../../../src/protocol/index.ts';
import type { Applied, Change } from '../../../src/store/index.ts';
import { closePasswords, openWorld, type World } from '../support/world.ts';

let world: World;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

/** Changes the password of a new user. `apply` replaces the first `apply` of the store. */
async function change(name: string, apply: (userId: string) => Promise<Applied>) {
  const { ctx, store } = world;
  const realm = await world.realm(name, {
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
  });
  await realm.client('web', { directAccessGrantsEnabled: true });
  const user = await realm.user('alice');
  await realm.login('alice');
  let attempts = 0;
  const once = async (changes: readonly Change[]) =>
    ++attempts === 1 ? apply(user.id) : store.apply(changes);
  const notified: string[] = [];
  const changing = changePassword(
    {
      ...ctx,
      store: new Proxy(store, {
        get(target, key) {
          const own: unknown = key === 'apply' ? once : Reflect.get(target, key);
          return typeof own === 'function' ? own.bind(target) : own;
        },
      }),
      sessionEndings: {
        prepare: async (_, ending) => {
          assert.ok('userId' in ending);
          const sessions = await store.listUserSessions(ending.userId, false);
          return async () => {
            notified.push(...sessions.map(({ username }) => username));
          };
        },
      },
    },
    (await store.findRealm(name))!,
    user.id,
    'Another-Horse-2',
  );
  return { changing, notified };
}

test('notifies the clients of sessions that ended with a rejected attempt, once, after the next attempt', async () => {
  const { changing, notified } = await change('stale', async (userId) => {
    await world.store.endUserSessions(userId, { offlineToo: true });
    return { outcome: 'stale', what: 'user', id: userId, endedSessionsOf: [userId] };
  });
  assert.equal((await changing).outcome, 'changed');
  assert.deepEqual(notified, ['alice']);
});

test('notifies no client twice if a rejected attempt ended no sessions', async () => {
  const { changing, notified } = await change('unchanged', async (id) => ({
    outcome: 'stale',
    what: 'user',
    id,
  }));
  assert.equal((await changing).outcome, 'changed');
  assert.deepEqual(notified, ['alice']);
});

test('notifies the clients of ended sessions if the database fails, or the user is removed meanwhile', async () => {
  const failed = await change('failing', async (userId) => {
    await world.store.endUserSessions(userId, { offlineToo: true });
    throw Object.assign(new Error('the database fails'), { endedSessionsOf: [userId] });
  });
  await assert.rejects(failed.changing, /the database fails/);
  assert.deepEqual(failed.notified, ['alice']);
  const removed = await change('missing', async (userId) => {
    await world.store.endUserSessions(userId, { offlineToo: true });
    return { outcome: 'missing', what: 'user', id: userId, endedSessionsOf: [userId] };
  });
  assert.deepEqual(await removed.changing, { outcome: 'gone' });
  assert.deepEqual(removed.notified, ['alice']);
});
