import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client } from '../../../src/model/index.ts';
import { closePasswords, openWorld, type RealmInWorld, type World } from '../../protocol/support/world.ts';
import { Browser, CALLBACK, clientAnswer, pageOf, realmWithLogin, redirectOf } from '../browser.ts';

let world: World;
let realm: RealmInWorld;
let client: Client;
let names = 0;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme'));
  client = await realm.client('needy', {
    name: 'Needy <b>',
    redirectUris: [CALLBACK],
    standardFlowEnabled: true,
    consentRequired: true,
    attributes: { policyUri: 'https://web.example.test/policy', tosUri: 'javascript:alert(1)' },
  });
});
after(async () => {
  await world.close();
  await closePasswords();
});

const needy = { client_id: 'needy' };

/** Logs in a new user. Returns the user, the browser and the consent page. */
async function atConsent(parameters: Record<string, string> = {}) {
  const user = await realm.user(`user-${++names}`);
  const browser = new Browser(world, realm);
  const answer = await browser.logIn(await browser.authorize({ ...needy, ...parameters }), user.username);
  assert.equal(redirectOf(answer).searchParams.get('execution'), 'OAUTH_GRANT');
  return { user, browser, page: await browser.follow(answer) };
}

describe('consent (docs/keycloak/login.md#consent)', () => {
  it('shows what the client will receive, and links only to web addresses', async () => {
    const { page } = await atConsent({ scope: 'openid phone' });
    const { client: name, scopes, links } = pageOf(page, 'consent');
    assert.equal(name, 'Needy <b>');
    assert.ok(scopes.some(({ text }) => text === 'phone'));
    assert.deepEqual(links, { policy: 'https://web.example.test/policy' });
  });

  it('stores the consent for the granted scopes of this client, and for no others', async () => {
    const { user, browser, page } = await atConsent();
    const answer = clientAnswer(await browser.submit(page, { accept: 'Yes' }));
    assert.ok(answer['code']);
    const granted = world.events.find(({ type, userId }) => type === 'GRANT_CONSENT' && userId === user.id);
    assert.equal(granted?.details['consent'], 'consent_granted');
    assert.equal(world.events.at(-2)?.details['consent'], 'consent_granted');
    assert.equal((await world.store.listConsents(user.id)).length, 1);
    const again = clientAnswer(await browser.authorize({ ...needy, prompt: 'none' }));
    assert.ok(again['code']);
    assert.equal(world.events.at(-1)?.details['consent'], 'persistent_consent');
    const wider = await browser.authorize({ ...needy, scope: 'openid phone' });
    const shown = pageOf(await browser.follow(wider), 'consent').scopes;
    assert.deepEqual(
      shown.map(({ text }) => text),
      ['phone'],
    );
  });

  it('requires the consent again for prompt=consent, and never shows the page for a silent request', async () => {
    const { browser, page } = await atConsent();
    const silent = clientAnswer(await browser.authorize({ ...needy, prompt: 'none' }));
    assert.equal(silent['error'], 'login_required', 'nobody is logged in before the consent');
    clientAnswer(await browser.submit(page, { accept: 'Yes' }));
    const asked = await browser.follow(await browser.authorize({ ...needy, prompt: 'consent' }));
    assert.ok(pageOf(asked, 'consent').scopes.length > 0);
    const wider = clientAnswer(await browser.authorize({ ...needy, prompt: 'none', scope: 'openid phone' }));
    assert.equal(wider['error'], 'interaction_required');
  });

  it('sends an error to the client if the user refuses, and stores neither a session nor a consent', async () => {
    const { user, browser, page } = await atConsent();
    assert.deepEqual(clientAnswer(await browser.submit(page, { cancel: 'No' })), {
      error: 'access_denied',
      state: 'state-1',
      iss: 'https://id.example.test/realms/acme',
    });
    assert.equal(world.events.at(-1)!.error, 'rejected_by_user');
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
    assert.deepEqual(await world.store.listConsents(user.id), []);
  });

  it('shows the consent page again if the client now requests more scopes than the page listed', async () => {
    const { user, browser, page } = await atConsent();
    const phone = realm.fixture.scopes.find(({ name }) => name === 'phone')!;
    const changed = { ...client, defaultClientScopeIds: [...client.defaultClientScopeIds, phone.id] };
    await realm.put({ do: 'put', client: changed });
    try {
      const again = await browser.submit(page, { accept: 'Yes' });
      assert.ok(pageOf(again, 'consent').scopes.some(({ text }) => text === 'phone'));
      assert.deepEqual(await world.store.listConsents(user.id), []);
      assert.ok(clientAnswer(await browser.submit(again, { accept: 'Yes' }))['code']);
      assert.ok((await world.store.findConsent(user.id, client.id))!.scopeIds.includes(phone.id));
    } finally {
      await realm.put({ do: 'put', client });
    }
  });

  it('stores no consent if the form is from another browser or another step, or if it contains neither button', async () => {
    const { user, browser, page } = await atConsent();
    const url = new URL(pageOf(page, 'consent').action);
    const other = new Browser(world, realm);
    await other.authorize(needy);
    pageOf(await other.send('POST', url.href, { accept: 'Yes' }), 'expired');
    url.searchParams.set('session_code', 'x');
    pageOf(await browser.send('POST', url.href, { accept: 'Yes' }), 'expired');
    assert.equal(clientAnswer(await browser.submit(page, {}))['error'], 'access_denied');
    assert.equal(await world.store.findConsent(user.id, client.id), undefined);
  });

  it('does not ask for consent if the client does not need it, even with prompt=consent', async () => {
    const browser = new Browser(world, realm);
    const form = await browser.authorize({ prompt: 'consent' });
    assert.ok(clientAnswer(await browser.logIn(form, 'alice'))['code']);
  });
});
