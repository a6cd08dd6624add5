import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { closePasswords, openWorld, type RealmInWorld, type World } from '../../protocol/support/world.ts';
import { messageOf, pageOf } from '../browser.ts';
import { AccountBrowser, doneOf, realmWithAccount } from './account-realm.ts';

let world: World;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

async function consented(realm: RealmInWorld, clientId: string, userId: string, ...scopes: string[]) {
  const client = await realm.client(clientId, { consentRequired: true, name: `The ${clientId}` });
  const scopeIds = realm.fixture.scopes.filter(({ name }) => scopes.includes(name)).map(({ id }) => id);
  const at = world.clock.now();
  const consent = { userId, clientUuid: client.id, scopeIds, createdDate: at, lastUpdatedDate: at };
  await realm.put({ do: 'putConsent', consent });
  return client;
}

describe('the applications page', () => {
  it('lists clients with sessions, offline access or consents, and the scopes of each consent', async () => {
    const { realm, user } = await realmWithAccount(world, 'list');
    const alice = await user('alice');
    const bob = await user('bob');
    const shop = await consented(realm, 'shop', alice.id, 'profile', 'email');
    await consented(realm, 'others', bob.id, 'profile');
    const web = await realm.client('web', { baseUrl: '/start', rootUrl: 'https://web.example.test/' });
    const unused = await realm.client('unused');
    await realm.login('alice');
    await realm.login('alice', { scope: 'offline_access' });
    const browser = new AccountBrowser(world, realm);
    const page = pageOf(await browser.enter('alice', 'applications'), 'account-applications');
    assert.deepEqual(page.applications, [
      {
        id: shop.id,
        name: 'The shop',
        inUse: false,
        offline: false,
        removable: true,
        consent: { givenAt: world.clock.now(), scopes: ['profile', 'email'] },
      },
      {
        id: web.id,
        name: 'web',
        url: 'https://web.example.test/start',
        inUse: true,
        offline: true,
        removable: true,
      },
    ]);
    assert.equal(page.mayRemove, true);
    assert.ok(unused);
  });

  it('removes a consent and every token that was issued because of it, including offline tokens', async () => {
    const { realm, user } = await realmWithAccount(world, 'remove');
    const alice = await user('alice');
    const scopes = realm.fixture.scopes.map(({ name }) => name);
    const shop = await consented(realm, 'shop', alice.id, ...scopes);
    // The password grant rejects clients that need a consent, so the client needs none while the test gets tokens.
    await realm.put({ do: 'put', client: { ...shop, consentRequired: false } });
    const form = { client_id: 'shop' };
    const tokens = await realm.login('alice', form);
    const offline = await realm.login('alice', { ...form, scope: 'offline_access' });
    await realm.put({ do: 'put', client: { ...shop, consentRequired: true } });
    const browser = new AccountBrowser(world, realm);
    await browser.enter('alice');
    const done = await browser.change('applications', { client: shop.id });
    assert.equal(doneOf(done), 'accountAccessRemovedMessage');
    assert.equal(await world.store.findConsent(alice.id, shop.id), undefined);
    for (const { refresh_token } of [tokens, offline])
      await assert.rejects(realm.refresh(refresh_token, form));
    const { type, userId, details } = world.events.findLast((event) => event.type.startsWith('REVOKE'))!;
    assert.deepEqual([type, userId, details['revoked_client']], ['REVOKE_GRANT', alice.id, 'shop']);
    const page = pageOf(await browser.follow(done), 'account-applications');
    assert.ok(page.applications.every(({ id, removable }) => id !== shop.id || !removable));
  });

  it('removes the offline access of a client that needs no consent', async () => {
    const { realm, user } = await realmWithAccount(world, 'offline');
    const alice = await user('alice');
    const web = await realm.client('web');
    const offline = await realm.login('alice', { scope: 'offline_access' });
    const browser = new AccountBrowser(world, realm);
    await browser.enter('alice');
    await browser.change('applications', { client: web.id });
    await assert.rejects(realm.refresh(offline.refresh_token));
    assert.deepEqual(await world.store.listUserSessions(alice.id, true), []);
  });

  it('never removes the consent of another user, and reports an unknown client', async () => {
    const { realm, user } = await realmWithAccount(world, 'mine');
    await user('alice');
    const bob = await user('bob');
    const shop = await consented(realm, 'shop', bob.id, 'profile');
    const browser = new AccountBrowser(world, realm);
    await browser.enter('alice');
    await browser.change('applications', { client: shop.id });
    assert.ok(await world.store.findConsent(bob.id, shop.id));
    const answer = await browser.change('applications', { client: 'nothing' });
    assert.equal(messageOf(answer), 'accountFormOutdatedMessage');
    assert.equal(world.events.at(-1)!.type, 'REVOKE_GRANT_ERROR');
  });
});
