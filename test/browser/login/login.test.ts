import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PASSWORD } from '../../protocol/support/world.ts';
import { Browser, CALLBACK, clientAnswer, errorOf, messageOf, pageOf } from '../browser.ts';
import { openLoginWorld } from '../login-world.ts';

const { newBrowser, newClient, newRealm, newUser, realm, world } = await openLoginWorld();

const lastEvent = () => world.events.at(-1)!;

describe('login with a password (docs/keycloak/login.md#login-form)', () => {
  it('shows the form, then sends code, state, session_state and iss to the client', async () => {
    const browser = newBrowser();
    const form = await browser.authorize({ nonce: 'n-1' });
    assert.equal(pageOf(form, 'login').fixed, false);
    const answer = clientAnswer(await browser.logIn(form, 'alice'));
    assert.deepEqual(Object.keys(answer).sort(), ['code', 'iss', 'session_state', 'state']);
    assert.equal(answer['state'], 'state-1');
    assert.match(answer['code']!, /^[\w-]{24}\.[\w-]{24}\.[0-9a-f-]{36}$/);
    const tokens = await realm.tokens({
      grant_type: 'authorization_code',
      client_id: 'web',
      code: answer['code']!,
      redirect_uri: CALLBACK,
    });
    assert.equal(tokens.session_state, answer['session_state']);
  });

  it("logs the event LOGIN with Keycloak's details and no secret", async () => {
    const browser = newBrowser();
    const answer = clientAnswer(await browser.logIn(await browser.authorize(), 'alice'));
    const event = lastEvent();
    assert.equal(event.type, 'LOGIN');
    assert.deepEqual(Object.keys(event.details).sort(), [
      'auth_method',
      'auth_type',
      'code_id',
      'consent',
      'redirect_uri',
      'response_mode',
      'response_type',
      'username',
    ]);
    assert.equal(event.sessionId, answer['session_state']);
    const logged = JSON.stringify(world.events);
    for (const secret of [PASSWORD, answer['code']!, browser.cookies.get('AUTH_SESSION_ID')![0]!])
      assert.ok(!logged.includes(secret));
  });

  it('shows the form again, with the same message for a wrong password, an unknown name and an empty name', async () => {
    const browser = newBrowser();
    let form = await browser.authorize();
    for (const [username, password] of [
      ['alice', 'wrong'],
      ['nobody', PASSWORD],
      ['', ''],
      ['alice', ''],
    ] as const) {
      form = await browser.logIn(form, username, { password });
      assert.equal(messageOf(form), 'invalidUserMessage');
      assert.equal(form.show === 'page' && form.name, 'shown');
      assert.equal(lastEvent().type, 'LOGIN_ERROR');
    }
    clientAnswer(await browser.logIn(form, 'alice'));
  });

  it('accepts the e-mail address as the user name, in upper or lower case', async () => {
    const browser = newBrowser();
    clientAnswer(await browser.logIn(await browser.authorize(), 'ALICE@example.test'));
  });

  it('trims spaces around the name but not around the password, as Keycloak does', async () => {
    const browser = newBrowser();
    const form = await browser.logIn(await browser.authorize(), ' alice ', { password: ` ${PASSWORD}` });
    assert.equal(messageOf(form), 'invalidUserMessage');
    assert.equal(pageOf(form, 'login').username, 'alice');
    clientAnswer(await browser.logIn(form, '\talice '));
  });

  it('reports a disabled account only to a user who knows its password', async () => {
    const user = await newUser({ enabled: false });
    const browser = newBrowser();
    const form = await browser.logIn(await browser.authorize(), user.username, { password: 'wrong' });
    assert.equal(messageOf(form), 'invalidUserMessage');
    assert.equal(messageOf(await browser.logIn(form, user.username)), 'accountDisabledMessage');
  });

  it('responds to a locked user as to a wrong password until the lock ends (docs/keycloak/login.md#brute-force-protection)', async () => {
    const { realm: own } = await newRealm({
      bruteForceProtected: true,
      failureFactor: 2,
      quickLoginCheckMilliSeconds: 0,
    });
    const browser = newBrowser(own);
    let form = await browser.authorize();
    for (let failure = 0; failure < 2; failure++)
      form = await browser.logIn(form, 'alice', { password: 'wrong' });
    form = await browser.logIn(form, 'alice');
    assert.equal(messageOf(form), 'invalidUserMessage');
    assert.equal(lastEvent().error, 'user_temporarily_disabled');
    world.clock.pass(61);
    clientAnswer(await browser.logIn(form, 'alice'));
    const { id } = (await world.store.findUserByUsername(own.fixture.realm.id, 'alice'))!;
    assert.equal(await world.store.findLoginFailures(own.fixture.realm.id, id), undefined);
  });

  it('does not create a session if the password is changed or the user is disabled during the login', async () => {
    const user = await newUser();
    const browser = newBrowser();
    const form = await browser.authorize();
    const [credential] = await world.store.listCredentials(user.id);
    const { findSession } = world.store;
    const finish = world.store.finishLogin.bind(world.store);
    world.ctx.store.finishLogin = async (login) => {
      const finished = await finish(login);
      await realm.put({ do: 'remove', what: 'credential', id: credential!.id });
      return finished;
    };
    try {
      assert.equal(errorOf(await browser.logIn(form, user.username)), '400 accountChangedMessage');
    } finally {
      world.ctx.store.finishLogin = finish;
    }
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
    assert.equal(world.store.findSession, findSession);
  });
});

describe('the form of a login (CSRF, replay, fixation)', () => {
  it('rejects a form without the cookie of its browser, and reports it as expired with another browser’s cookie', async () => {
    const form = await newBrowser().authorize();
    assert.equal(errorOf(await newBrowser().logIn(form, 'alice')), '400 cookieNotFoundMessage');
    const other = newBrowser();
    await other.authorize();
    pageOf(await other.logIn(form, 'alice'), 'expired');
  });

  it('accepts a form even if the browser also sends planted cookies', async () => {
    const browser = newBrowser();
    const form = await browser.authorize();
    const own = browser.cookies.get('AUTH_SESSION_ID')!;
    browser.cookies.set('AUTH_SESSION_ID', ['garbage', Buffer.alloc(32).toString('base64url'), ...own]);
    clientAnswer(await browser.logIn(form, 'alice'));
  });

  it('responds to the form of an earlier step with a page that links to the current step', async () => {
    const browser = newBrowser();
    const first = await browser.authorize();
    const second = await browser.logIn(first, 'alice', { password: 'wrong' });
    const expired = pageOf(await browser.logIn(first, 'alice'), 'expired');
    pageOf(await browser.send('GET', expired.continueAt!), 'login');
    clientAnswer(await browser.logIn(second, 'alice'));
  });

  it('redirects to the client if a form is sent after a successful login, so that the client starts a new login', async () => {
    const browser = newBrowser();
    const form = await browser.authorize();
    clientAnswer(await browser.logIn(form, 'alice'));
    assert.deepEqual(clientAnswer(await browser.logIn(form, 'alice')), {
      error: 'temporarily_unavailable',
      error_description: 'authentication_expired',
      state: 'state-1',
      iss: 'https://id.example.test/realms/acme',
    });
  });

  it('never redirects to an unregistered redirect URI, whatever client_data contains', async () => {
    const browser = newBrowser();
    const form = await browser.authorize();
    clientAnswer(await browser.logIn(form, 'alice'));
    const url = new URL(pageOf(form, 'login').action);
    for (const data of [
      Buffer.from(JSON.stringify({ ru: 'https://evil.example.test/', rt: 'code' })).toString('base64url'),
      Buffer.from('"x"').toString('base64url'),
      '%%%',
      '',
    ]) {
      url.searchParams.set('client_data', data);
      const page = pageOf(await browser.send('POST', url.href, { username: 'alice' }), 'expired');
      assert.equal(page.restart, undefined);
    }
  });

  it('responds to an expired form with a page that repeats the authorization request', async () => {
    const browser = newBrowser();
    const form = await browser.authorize({ nonce: 'n-1', code_challenge: 'x'.repeat(43) });
    world.clock.pass(1801);
    const expired = pageOf(await browser.logIn(form, 'alice'), 'expired');
    const url = new URL(expired.restart!);
    assert.equal(url.searchParams.get('nonce'), 'n-1');
    assert.equal(url.searchParams.get('code_challenge'), 'x'.repeat(43));
    clientAnswer(await browser.logIn(await browser.send('GET', expired.restart!), 'alice'));
  });

  it('responds to an expired form with a page in the language of the login', async () => {
    const kept = { internationalizationEnabled: true, supportedLocales: ['en', 'de'] };
    const browser = newBrowser((await newRealm({ kept })).realm);
    const form = await browser.authorize({ ui_locales: 'de' });
    world.clock.pass(1801);
    const expired = await browser.logIn(form, 'alice');
    pageOf(expired, 'expired');
    assert.equal(expired.show === 'page' && expired.frame.locale, 'de');
  });

  it('responds to an expired form with a link to the application if the request is too long to repeat', async () => {
    const home = 'https://web.example.test/home';
    const { clientId } = await newClient({ baseUrl: home });
    const browser = newBrowser();
    const form = await browser.authorize({ client_id: clientId, state: '漢'.repeat(2600) });
    world.clock.pass(1801);
    const { restart, ways } = pageOf(await browser.logIn(form, 'alice'), 'expired');
    assert.equal(restart, undefined);
    assert.deepEqual(ways, [{ way: 'application', url: home }]);
  });

  it('rejects a form whose code is wrong, missing or from another tab', async () => {
    const browser = newBrowser();
    const url = new URL(pageOf(await browser.authorize(), 'login').action);
    const other = new URL(pageOf(await browser.authorize(), 'login').action);
    for (const code of ['', 'x', other.searchParams.get('session_code')!]) {
      url.searchParams.set('session_code', code);
      pageOf(await browser.send('POST', url.href, { username: 'alice', password: PASSWORD }), 'expired');
    }
  });

  it('rejects a form if the browser reports that another site sent it (login CSRF)', async () => {
    for (const fetchSite of ['cross-site', 'same-site']) {
      const browser = newBrowser();
      const form = await browser.authorize();
      const foreign = new Browser(world, realm, { fetchSite, cookies: browser.cookies });
      assert.equal(errorOf(await foreign.logIn(form, 'alice')), '400 invalidRequestMessage');
      pageOf(await foreign.authorize(), 'login');
      const own = new Browser(world, realm, { fetchSite: 'same-origin', cookies: browser.cookies });
      clientAnswer(await own.logIn(form, 'alice'));
    }
  });

  it('does not redirect if the client’s redirect URI was removed during the login', async () => {
    const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
    const client = await newClient(usual);
    const browser = newBrowser();
    const form = await browser.authorize({ client_id: client.clientId });
    await realm.put({ do: 'put', client: { ...client, redirectUris: [`${CALLBACK}2`] } });
    assert.equal(errorOf(await browser.logIn(form, 'alice')), '400 invalidParameterMessage');
  });

  it('shows a link to the client on the error page if the client has a web address', async () => {
    for (const [baseUrl, url] of [
      ['https://web.example.test/home', 'https://web.example.test/home'],
      ['/home', 'https://web.example.test/home'],
      ['javascript:alert(1)', 'https://web.example.test'],
      ['', 'https://web.example.test'],
    ] as const) {
      const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
      const rootUrl = 'https://web.example.test';
      const client = await newClient({ ...usual, rootUrl, baseUrl });
      const form = await newBrowser().authorize({ client_id: client.clientId });
      const { ways } = pageOf(await newBrowser().logIn(form, 'alice'), 'error');
      assert.deepEqual(
        ways.map(({ way }) => way),
        ['restart', 'application'],
      );
      assert.equal(ways[1]!.url, url);
    }
  });

  it('creates only one session if a form is sent several times in parallel', async () => {
    const user = await newUser();
    const browser = newBrowser();
    const form = await browser.authorize();
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.logIn(form, user.username)));
    const codes = answers.filter((one) => one.show === 'redirect' && /[?&]code=/.test(one.to));
    assert.equal(codes.length, 1);
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 1);
  });

  it('accepts a user name with characters that could break a log line, a header or a page', async () => {
    const browser = newBrowser();
    const name = 'eve\r\nSet-Cookie: a=b"><script>\u2028end';
    const form = await browser.logIn(await browser.authorize(), name);
    assert.equal(pageOf(form, 'login').username, name);
    assert.equal(messageOf(form), 'invalidUserMessage');
  });

  it('restarts a login without the earlier user name, and rejects the earlier form', async () => {
    const browser = newBrowser();
    const form = await browser.logIn(await browser.authorize(), 'alice', { password: 'wrong' });
    const url = new URL(pageOf(form, 'login').action);
    url.pathname = url.pathname.replace('authenticate', 'restart');
    const fresh = await browser.follow(await browser.send('GET', url.href));
    assert.equal(pageOf(fresh, 'login').username, undefined);
    pageOf(await browser.logIn(form, 'alice'), 'expired');
    clientAnswer(await browser.logIn(fresh, 'alice'));
    assert.ok(world.events.some((event) => event.type === 'RESTART_AUTHENTICATION'));
  });
});

describe('several tabs of one browser', () => {
  it('two tabs of a browser log in independently', async () => {
    const browser = newBrowser();
    const [one, two] = [await browser.authorize({ state: '1' }), await browser.authorize({ state: '2' })];
    const second = clientAnswer(await browser.logIn(two, 'alice'));
    assert.equal(second['state'], '2');
    const first = clientAnswer(await browser.logIn(one, 'alice'));
    assert.equal(first['state'], '1');
    assert.equal(first['session_state'], second['session_state'], 'one session for both');
  });

  it('a second tab continues with the session of the tab that logged in first', async () => {
    const browser = newBrowser();
    const [one, two] = [await browser.authorize({ state: '1' }), await browser.authorize({ state: '2' })];
    clientAnswer(await browser.logIn(two, 'alice'));
    const url = new URL(pageOf(one, 'login').action);
    url.searchParams.delete('session_code');
    assert.equal(clientAnswer(await browser.send('GET', url.href))['state'], '1');
  });

  it('rejects another user in a second tab while the first user is logged in', async () => {
    const user = await newUser();
    const browser = newBrowser();
    const [one, two] = [await browser.authorize(), await browser.authorize()];
    clientAnswer(await browser.logIn(two, 'alice'));
    const answer = await browser.logIn(one, user.username);
    assert.equal(errorOf(answer), '400 differentUserAuthenticatedMessage');
    assert.equal(lastEvent().error, 'different_user_authenticated');
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
  });
});
