import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { EventDraft } from '../../src/protocol/events.ts';
import { recordFailure } from '../../src/protocol/login-failures.ts';
import { closePasswords, openWorld, type World } from './support/world.ts';

let world: World;
before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

it('counts every one of hundreds of guesses at one user that fail at once (facts §11)', async () => {
  const realm = await world.realm('acme', {
    bruteForceProtected: true,
    failureFactor: 1000,
    quickLoginCheckMilliSeconds: 0,
  });
  const user = await realm.user('alice', { password: null });
  const configuration = (await world.store.findRealm('acme'))!;
  const fail = () => {
    const event = new EventDraft(world.ctx, configuration, 'LOGIN', '127.0.0.1');
    return recordFailure({ ctx: world.ctx, configuration, event, remoteAddress: '127.0.0.1' }, user);
  };
  await Promise.all(Array.from({ length: 500 }, fail));
  assert.equal((await world.store.findLoginFailures(user.realmId, user.id))?.failures, 500);
});
