import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AccountPageName } from '../../../src/browser/index.ts';
import { sha256 } from '../../../src/crypto/index.ts';
import { BASE_URL, closePasswords, openWorld, PASSWORD, type World } from '../../protocol/support/world.ts';
import { errorOf, messageOf, pageOf, redirectOf } from '../browser.ts';
import { AccountBrowser, type AccountRealm, accountOf, doneOf, realmWithAccount } from './account-realm.ts';

const PAGES: readonly AccountPageName[] = ['profile', 'password', 'sessions', 'applications'];

let world: World;
let acme: AccountRealm;

before(async () => {
  world = await openWorld();
  acme = await realmWithAccount(world, 'acme');
  await acme.user('alice');
});
after(async () => {
  await world.close();
  await closePasswords();
});

describe('access to the account pages', () => {
  for (const page of PAGES)
    it(`redirects a browser without a login to the login page, and back to ${page} after the login`, async () => {
      const browser = new AccountBrowser(world, acme.realm);
      const sent = redirectOf(await browser.open(page));
      assert.equal(sent.pathname, '/realms/acme/protocol/openid-connect/auth');
      assert.equal(sent.searchParams.get('client_id'), 'account');
      assert.equal(sent.searchParams.get('response_type'), 'none');
      assert.equal(sent.searchParams.get('redirect_uri'), `${BASE_URL}${browser.url(page)}`);
      const login = await browser.send('GET', sent.href);
      const back = redirectOf(await browser.logIn(login, 'alice'));
      assert.equal(back.pathname, browser.url(page));
      assert.ok(!back.searchParams.has('code'), 'no code goes through the browser');
      const clean = redirectOf(await browser.send('GET', back.href));
      assert.equal(clean.href, `${BASE_URL}${browser.url(page)}`, 'what the login answered leaves the URL');
      assert.equal(accountOf(await browser.send('GET', clean.href)).username, 'alice');
    });

  it('shows an account page without a new login if the user is logged in to another client', async () => {
    await acme.realm.client('web', {
      redirectUris: ['https://web.example.test/cb'],
      standardFlowEnabled: true,
    });
    const browser = new AccountBrowser(world, acme.realm);
    await browser.logIn(await browser.authorize(), 'alice');
    assert.equal(accountOf(await browser.open('profile')).username, 'alice');
  });

  it('reports a refused login instead of redirecting to the login endlessly', async () => {
    const browser = new AccountBrowser(world, acme.realm);
    const answer = await browser.open('sessions', '?error=access_denied&iss=x');
    assert.equal(errorOf(answer), '400 accountNotLoggedInMessage');
    assert.deepEqual(pageOf(answer, 'error').ways, [
      { way: 'sign-in', url: `${BASE_URL}${browser.url('sessions')}` },
    ]);
  });

  it('ignores the form of an account page if the browser is not logged in', async () => {
    const browser = new AccountBrowser(world, acme.realm);
    for (const page of PAGES)
      assert.match(
        redirectOf(await browser.send('POST', browser.url(page), { email: 'x@y.test' })).pathname,
        /\/auth$/,
      );
  });

  it('shows an error page instead of an account page if the realm has a demand that idkit does not enforce (docs/keycloak/tokens.md#demands)', async () => {
    const executions = [{ authenticator: 'x', requirement: 'REQUIRED' }];
    const flow = { alias: 'mine', authenticationExecutions: executions };
    const { realm, user } = await realmWithAccount(world, 'own-flow');
    await user('alice');
    const browser = new AccountBrowser(world, realm);
    accountOf(await browser.enter('alice'));
    await realm.settings({ kept: { authenticationFlows: [flow], browserFlow: 'mine' } });
    assert.equal(errorOf(await browser.open('profile')), '400 loginRefusedMessage');
    assert.equal(world.events.at(-1)!.type, 'LOGIN_ERROR');
  });

  it('shows no account pages if the realm or the client account is disabled, or the client is missing', async () => {
    const { realm, account, user } = await realmWithAccount(world, 'off');
    await user('alice');
    const browser = new AccountBrowser(world, realm);
    accountOf(await browser.enter('alice'));
    await realm.put({ do: 'put', client: { ...account, enabled: false } });
    assert.equal(errorOf(await browser.open('profile')), '404 accountOffMessage');
    await realm.put({ do: 'remove', what: 'client', id: account.id });
    assert.equal(errorOf(await browser.open('profile')), '404 accountOffMessage');
    await realm.settings({ enabled: false });
    assert.equal(errorOf(await browser.open('profile')), '400 realmNotEnabledMessage');
  });

  it('requires the same roles as Keycloak’s account console (docs/keycloak/pages.md#account)', async () => {
    const { realm, roles, user } = await realmWithAccount(world, 'roles');
    await user('nobody', { roleIds: [] });
    await user('viewer', { roleIds: [roles['view-profile']!] });
    await user('consents', { roleIds: [roles['view-applications']!, roles['view-profile']!] });
    const denied = '403 accountDeniedMessage';

    const nobody = new AccountBrowser(world, realm);
    assert.equal(errorOf(await nobody.enter('nobody')), denied);

    const viewer = new AccountBrowser(world, realm);
    const profile = await viewer.enter('viewer');
    const account = accountOf(profile);
    assert.equal(account.mayChange, false);
    assert.ok(pageOf(profile, 'account-profile').fields.every(({ readOnly }) => readOnly));
    assert.equal(errorOf(await viewer.open('applications')), denied);
    const { stateChecker } = account;
    for (const [page, form] of [
      ['profile', { firstName: 'New' }],
      ['password', { password: PASSWORD, 'password-new': 'New-1', 'password-confirm': 'New-1' }],
      ['sessions', { others: 'on' }],
    ] as const)
      assert.equal(errorOf(await viewer.send('POST', viewer.url(page), { stateChecker, ...form })), denied);
    const kept = await world.store.findUserByUsername(realm.fixture.realm.id, 'viewer');
    assert.equal(kept?.firstName, 'First');

    const consents = new AccountBrowser(world, realm);
    const applications = pageOf(await consents.enter('consents', 'applications'), 'account-applications');
    assert.equal(applications.mayRemove, false);
    assert.equal(errorOf(await consents.change('applications', { client: 'x' })), denied);
  });
});

describe('a form of the account pages', () => {
  it('rejects a form of any account page without the state checker of the login (CSRF)', async () => {
    const { realm, user } = await realmWithAccount(world, 'csrf');
    const victim = await user('victim');
    await user('mallory');
    const browser = new AccountBrowser(world, realm);
    accountOf(await browser.enter('victim'));
    const other = new AccountBrowser(world, realm);
    const foreign = accountOf(await other.enter('mallory')).stateChecker;
    const second = new AccountBrowser(world, realm);
    const older = accountOf(await second.enter('victim')).stateChecker;
    const web = await realm.client('web');
    const stored = await world.store.findUser(victim.realmId, victim.id);
    const before = await world.store.listUserSessions(victim.id, false);
    const change = { password: PASSWORD, 'password-new': 'New-Pass-1', 'password-confirm': 'New-Pass-1' };
    for (const stateChecker of [undefined, '', 'guess', foreign, older])
      for (const [page, form] of [
        ['profile', { email: 'mallory@example.test' }],
        ['password', change],
        ['sessions', { others: 'on' }],
        ['sessions', { session: before[0]!.session.id }],
        ['applications', { client: web.id }],
      ] as const) {
        const sent = stateChecker === undefined ? form : { ...form, stateChecker };
        const answer = await browser.send('POST', browser.url(page), sent);
        assert.equal(messageOf(answer), 'accountFormOutdatedMessage');
        assert.equal(answer.show === 'page' && answer.name, 'account-form-outdated');
        accountOf(answer);
      }
    assert.deepEqual(await world.store.findUser(victim.realmId, victim.id), stored);
    assert.equal((await world.store.listUserSessions(victim.id, false)).length, before.length);
    await realm.login('victim');
  });

  it('shows the stored data after a forged form, never the values that the form contained', async () => {
    const browser = new AccountBrowser(world, acme.realm);
    await browser.enter('alice');
    const answer = await browser.send('POST', browser.url('profile'), { email: 'mallory@example.test' });
    const email = pageOf(answer, 'account-profile').fields.find(({ name }) => name === 'email');
    assert.equal(email?.value, 'alice@example.test');
  });

  it('confirms a change on a page that the user can reload, and ignores a confirmation that another site forged', async () => {
    const browser = new AccountBrowser(world, acme.realm);
    await browser.enter('alice');
    const done = await browser.change('profile', { firstName: 'Alice' });
    assert.equal(doneOf(done), 'accountUpdatedMessage');
    assert.equal(messageOf(await browser.follow(done)), 'accountUpdatedMessage');
    const mark = redirectOf(done).searchParams.get('mark')!;
    const { sessionId } = accountOf(await browser.follow(done));
    const markOf = (text: string) => sha256(text).toString('base64url').slice(0, 22);
    for (const query of [
      '?done=accountUpdatedMessage',
      '?done=accountUpdatedMessage&mark=x',
      `?done=accountPasswordUpdatedMessage&mark=${mark}`,
      // Every client of the login could compute this mark, because it knows the session id.
      `?done=accountUpdatedMessage&mark=${markOf(`${sessionId} accountUpdatedMessage`)}`,
      `?done=invalidUserMessage&mark=${mark}`,
    ])
      assert.equal(messageOf(await browser.open('profile', query)), undefined, query);
    const other = new AccountBrowser(world, acme.realm);
    await other.enter('alice');
    assert.equal(messageOf(await other.send('GET', redirectOf(done).href)), undefined);
  });
});
