import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type BrowserAnswer, findSsoSession, sessionCookieValue } from '../../../src/browser/index.ts';
import {
  claimsOf,
  closePasswords,
  openWorld,
  type RealmInWorld,
  type World,
} from '../../protocol/support/world.ts';
import {
  Browser,
  CALLBACK,
  clientAnswer,
  errorOf,
  messageOf,
  pageOf,
  realmWithLogin,
  redirectOf,
} from '../browser.ts';

let world: World;
let realm: RealmInWorld;
let names = 0;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme'));
  await realm.client('other', { redirectUris: [CALLBACK], standardFlowEnabled: true });
});
after(async () => {
  await world.close();
  await closePasswords();
});

/** Logs alice in. Returns the browser, the answer that ends the login, and the session state. */
async function loggedIn(where = realm, form = {}) {
  const browser = new Browser(world, where);
  const done = await browser.logIn(await browser.authorize(), 'alice', form);
  return { browser, done, session: clientAnswer(done)['session_state']! };
}

async function exchange(answer: BrowserAnswer, where = realm, client = 'web') {
  return where.tokens({
    grant_type: 'authorization_code',
    client_id: client,
    code: clientAnswer(answer)['code']!,
    redirect_uri: CALLBACK,
  });
}

const noteOf = async (session: string) => (await world.store.findSession(session, false))!.notes['auth_time'];
const cookiesOf = (answer: BrowserAnswer) => new Map(answer.cookies.map((one) => [one.name, one]));

describe('single sign-on (OpenID Connect Core §3.1.2.3)', () => {
  it('logs a user in to another client in the same session, without showing a page', async () => {
    const { browser, session } = await loggedIn();
    for (const client of ['web', 'other']) {
      const answer = await browser.authorize({ client_id: client, prompt: 'none' });
      assert.equal(clientAnswer(answer)['session_state'], session);
      const { id_token: token } = await exchange(answer, realm, client);
      assert.equal(claimsOf(token)['acr'], '0');
    }
  });

  it("keeps auth_time, and updates the time of the session's last use", async () => {
    const { browser, done, session } = await loggedIn();
    const first = claimsOf((await exchange(done)).id_token);
    world.clock.pass(100);
    const again = claimsOf((await exchange(await browser.authorize({ max_age: '1000' }))).id_token);
    assert.equal(
      again['auth_time'] ?? (await noteOf(session)),
      first['auth_time'] ?? (await noteOf(session)),
    );
    assert.equal((await world.store.findSession(session, false))!.lastAccessAt, world.clock.now() / 1000);
  });

  it('requires a new login if the session is idle or logged out, or if its user is disabled', async () => {
    const ends: ((session: string) => unknown)[] = [
      () => world.clock.pass(1801),
      (session) => world.store.endSession(session, false),
    ];
    for (const end of ends) {
      const { browser, session } = await loggedIn();
      await end(session);
      assert.equal(clientAnswer(await browser.authorize({ prompt: 'none' }))['error'], 'login_required');
    }
    const user = await realm.user(`user-${++names}`);
    const browser = new Browser(world, realm);
    clientAnswer(await browser.logIn(await browser.authorize(), user.username));
    await realm.put({ do: 'put', user: { ...user, enabled: false } });
    assert.equal(clientAnswer(await browser.authorize({ prompt: 'none' }))['error'], 'login_required');
  });

  it('requires the user to log in again for prompt=login, select_account, max_age=0 or an old login', async () => {
    const { browser, session } = await loggedIn();
    for (const parameters of [
      { prompt: 'login' },
      { prompt: 'select_account' },
      { max_age: '0' },
      { max_age: '3' },
    ]) {
      world.clock.pass(5);
      const form = await browser.authorize(parameters);
      const page = pageOf(form, 'login');
      assert.ok(page.fixed);
      assert.equal(page.username, 'alice');
      assert.equal(messageOf(form), 'reauthenticateMessage');
      assert.equal(messageOf(await browser.submit(form, { password: 'wrong' })), 'invalidUserMessage');
      const answer = await browser.logIn(await browser.authorize(parameters), 'somebody-else');
      assert.equal(clientAnswer(answer)['session_state'], session, 'the name is not asked');
      assert.equal(await noteOf(session), String(world.clock.now() / 1000), 'auth_time is later');
    }
    const within = clientAnswer(await browser.authorize({ max_age: '10', prompt: 'none' }));
    assert.equal(within['session_state'], session);
  });

  it('ends the old session if another user logs in instead', async () => {
    const { browser, session } = await loggedIn();
    const user = await realm.user(`user-${++names}`);
    const form = await browser.authorize({ prompt: 'login' });
    const fresh = await browser.follow(await browser.send('GET', pageOf(form, 'login').restart!));
    assert.equal(pageOf(fresh, 'login').fixed, false);
    assert.equal(await world.store.findSession(session, false), undefined);
    const answer = clientAnswer(await browser.logIn(fresh, user.username));
    assert.notEqual(answer['session_state'], session);
  });

  it('uses the session only if it belongs to the user whom id_token_hint names, however old the token is', async () => {
    const { browser, done, session } = await loggedIn();
    const { id_token: hint } = await exchange(done);
    world.clock.pass(400);
    const silent = await browser.authorize({ prompt: 'none', id_token_hint: hint });
    assert.equal(clientAnswer(silent)['session_state'], session);
    const user = await realm.user(`user-${++names}`);
    const other = new Browser(world, realm);
    clientAnswer(await other.logIn(await other.authorize(), user.username));
    const refused = clientAnswer(await other.authorize({ prompt: 'none', id_token_hint: hint }));
    assert.equal(refused['error'], 'login_required');
    const form = await new Browser(world, realm).authorize({ id_token_hint: hint });
    pageOf(form, 'login');
    const fresh = new Browser(world, realm);
    const wrong = await fresh.logIn(await fresh.authorize({ id_token_hint: hint }), user.username);
    assert.equal(clientAnswer(wrong)['error'], 'login_required');
  });

  it('rejects an access token as id_token_hint', async () => {
    const { done } = await loggedIn();
    const { access_token: access } = await exchange(done);
    const answer = await new Browser(world, realm).authorize({ id_token_hint: access });
    assert.equal(clientAnswer(answer)['error_description'], 'Invalid parameter: id_token_hint');
  });
});

describe('cookies of a login (docs/keycloak/pages.md#cookies)', () => {
  it('sets an HttpOnly cookie with a JWT, and a cookie with the hash of the session', async () => {
    const { done, session } = await loggedIn();
    const cookies = cookiesOf(done);
    assert.deepEqual([...cookies.keys()].sort(), ['KEYCLOAK_IDENTITY', 'KEYCLOAK_SESSION']);
    const identity = cookies.get('KEYCLOAK_IDENTITY')!;
    assert.deepEqual([identity.httpOnly, identity.sameSite, identity.maxAge], [true, 'None', undefined]);
    const claims = claimsOf(identity.value);
    assert.equal(claims['typ'], 'Serialized-ID');
    assert.equal(claims['sid'], session);
    const state = cookies.get('KEYCLOAK_SESSION')!;
    assert.deepEqual([state.httpOnly, state.maxAge], [false, 36_000]);
    assert.equal(state.value, sessionCookieValue(session));
    assert.ok(!state.value.includes(session));
  });

  it('ignores a cookie with another kind of token, a token of another realm or a changed token', async () => {
    const { browser, done } = await loggedIn();
    const { realm: twin } = await realmWithLogin(world, `twin-${++names}`);
    const elsewhere = await loggedIn(twin);
    const tokens = await exchange(done);
    const good = browser.cookies.get('KEYCLOAK_IDENTITY')![0]!;
    const forged = [
      tokens.access_token,
      tokens.refresh_token!,
      tokens.id_token!,
      elsewhere.browser.cookies.get('KEYCLOAK_IDENTITY')![0]!,
      `${good.slice(0, -4)}AAAA`,
      `${good.split('.').slice(0, 2).join('.')}.`,
      'x',
    ];
    for (const value of forged) {
      browser.cookies.set('KEYCLOAK_IDENTITY', [value]);
      assert.equal(clientAnswer(await browser.authorize({ prompt: 'none' }))['error'], 'login_required');
    }
    browser.cookies.set('KEYCLOAK_IDENTITY', [...forged, good]);
    assert.ok(clientAnswer(await browser.authorize({ prompt: 'none' }))['code'], 'the right one is found');
  });

  it('ignores the cookies if they belong to two different logins (cookie tossing)', async () => {
    const { browser } = await loggedIn();
    const attacker = await realm.user(`user-${++names}`);
    const tossed = new Browser(world, realm);
    clientAnswer(await tossed.logIn(await tossed.authorize(), attacker.username));
    const values = [browser, tossed].map((one) => one.cookies.get('KEYCLOAK_IDENTITY')![0]!);
    browser.cookies.set('KEYCLOAK_IDENTITY', values);
    assert.equal(clientAnswer(await browser.authorize({ prompt: 'none' }))['error'], 'login_required');
  });

  it('the identity cookie contains the session, the user and a state checker for forms', async () => {
    const { browser, session } = await loggedIn();
    const configuration = (await world.store.findRealm('acme'))!;
    const found = await findSsoSession(world.ctx, configuration, browser);
    assert.equal(found?.session.id, session);
    assert.equal(found.user.username, 'alice');
    assert.equal(found.authenticatedAt, world.clock.now() / 1000);
    assert.match(found.stateChecker, /^[\w-]{43}$/);
    assert.equal(await findSsoSession(world.ctx, configuration, new Browser(world, realm)), undefined);
  });
});

describe('remember me (docs/keycloak/sessions.md#remember-me)', () => {
  const settings = { rememberMe: true, ssoSessionMaxLifespanRememberMe: 864_000 };

  it('offers "remember me" if the realm enables it, and extends the lifetimes of the cookie and the session', async () => {
    const { realm: own } = await realmWithLogin(world, 'remember', {
      ...settings,
      ssoSessionIdleTimeoutRememberMe: 432_000,
    });
    const browser = new Browser(world, own);
    const form = await browser.authorize();
    assert.equal(pageOf(form, 'login').rememberMe, 'offered');
    const done = await browser.logIn(form, 'alice', { rememberMe: 'on' });
    const cookies = cookiesOf(done);
    assert.equal(cookies.get('KEYCLOAK_IDENTITY')?.maxAge, 864_000);
    assert.equal(cookies.get('KEYCLOAK_SESSION')?.maxAge, 864_000);
    assert.equal(cookies.get('KEYCLOAK_REMEMBER_ME')?.maxAge, 31_536_000);
    assert.equal(world.events.at(-1)!.details['remember_me'], 'true');
    world.clock.pass(400_000);
    assert.ok(clientAnswer(await browser.authorize({ prompt: 'none' }))['code']);
    world.clock.pass(432_001);
    const next = pageOf(await browser.authorize(), 'login');
    assert.equal(next.rememberMe, 'checked');
    assert.equal(next.username, 'alice');
  });

  it('ends all remembered sessions if the realm disables "remember me"', async () => {
    const { realm: own } = await realmWithLogin(world, 'forget', settings);
    const { browser } = await loggedIn(own, { rememberMe: 'on' });
    await own.settings({ rememberMe: false });
    assert.equal(clientAnswer(await browser.authorize({ prompt: 'none' }))['error'], 'login_required');
  });

  it('ignores "remember me" if it is not offered, and clears the remembered name if the user does not select it', async () => {
    const { done } = await loggedIn(realm, { rememberMe: 'on' });
    assert.equal(cookiesOf(done).get('KEYCLOAK_IDENTITY')?.maxAge, undefined);
    const { realm: own } = await realmWithLogin(world, 'untick', settings);
    const { done: plain } = await loggedIn(own);
    assert.equal(cookiesOf(plain).get('KEYCLOAK_REMEMBER_ME')?.value, '');
  });
});

describe('a login that has ended', () => {
  it('errors and redirects never restore a login that has ended', async () => {
    const { browser, session } = await loggedIn();
    await world.store.endSession(session, false);
    assert.match(redirectOf(await browser.authorize({ prompt: 'none' })).search, /login_required/);
    assert.equal(errorOf(await browser.authorize({ client_id: 'nobody' })), '400 clientNotFoundMessage');
  });
});
