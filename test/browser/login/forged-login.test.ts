import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrowserAnswer } from '../../../src/browser/index.ts';
import { PAGE_STATUS } from '../../../src/http/responses/statuses.ts';
import type { User } from '../../../src/model/index.ts';
import { PASSWORD } from '../../protocol/support/world.ts';
import { CALLBACK, clientAnswer, errorOf, pageOf, redirectOf } from '../browser.ts';
import { isCode, openLoginWorld } from '../login-world.ts';

const { newBrowser, newClient, newRealm, newUser, realm, world } = await openLoginWorld();

const stepOf = (answer: BrowserAnswer, path: string) => {
  const url = new URL(answer.show === 'redirect' ? answer.to : pageOf(answer, 'login').action);
  url.pathname = url.pathname.replace(/[^/]*$/, path);
  return url;
};

describe('an attacker plants a value in a browser (session fixation, login CSRF)', () => {
  it('a planted AUTH_SESSION_ID does not give the attacker access to the victim’s tab, session or response', async () => {
    const user = await newUser({ requiredActions: ['TERMS_AND_CONDITIONS'] });
    const attacker = newBrowser();
    const trap = await attacker.authorize();
    const planted = attacker.cookies.get('AUTH_SESSION_ID')!;
    const victim = newBrowser();
    victim.cookies.set('AUTH_SESSION_ID', planted);
    // The attacker even makes the victim open a tab whose URL the attacker knows.
    const shown = await victim.send('GET', stepOf(trap, 'authenticate').href);
    const proved = await victim.logIn(shown, user.username);
    const known = stepOf(trap, 'required-action');
    for (const path of ['authenticate', 'required-action', 'restart']) {
      known.pathname = known.pathname.replace(/[^/]*$/, path);
      pageOf(await attacker.send('GET', known.href), 'expired');
    }
    pageOf(await attacker.submit(trap, { accept: 'Yes' }), 'expired');
    assert.ok(isCode(await victim.submit(await victim.follow(proved), { accept: 'Yes' })));
    const [identity] = victim.cookies.get('KEYCLOAK_IDENTITY')!;
    assert.ok(identity !== undefined && !attacker.cookies.has('KEYCLOAK_IDENTITY'));
    const silent = clientAnswer(await attacker.authorize({ prompt: 'none' }));
    assert.equal(silent['error'], 'login_required', 'the planted cookie is not a login');
  });

  it('a planted KEYCLOAK_IDENTITY of another user never logs the victim in as that user', async () => {
    const [mallory, victim] = [await newUser(), await newUser()];
    const attacker = newBrowser();
    await attacker.logIn(await attacker.authorize(), mallory.username);
    const planted = attacker.cookies.get('KEYCLOAK_IDENTITY')!;
    const browser = newBrowser();
    const form = await browser.authorize();
    browser.cookies.set('KEYCLOAK_IDENTITY', planted);
    const answer = await browser.logIn(form, victim.username);
    assert.equal(errorOf(answer), '400 differentUserAuthenticatedMessage');
    assert.equal((await world.store.listUserSessions(victim.id, false)).length, 0);
    const own = newBrowser();
    await own.logIn(await own.authorize(), victim.username);
    own.cookies.set('KEYCLOAK_IDENTITY', [...planted, ...own.cookies.get('KEYCLOAK_IDENTITY')!]);
    pageOf(await own.authorize(), 'login');
  });

  it('a logout with a planted KEYCLOAK_IDENTITY next to the victim’s own ends only the sessions of these two cookies', async () => {
    const [mallory, victim] = [await newUser(), await newUser()];
    const [attacker, browser, elsewhere] = [newBrowser(), newBrowser(), newBrowser()];
    await attacker.logIn(await attacker.authorize(), mallory.username);
    for (const one of [browser, elsewhere]) await one.logIn(await one.authorize(), victim.username);
    const logout = `/realms/${realm.name}/protocol/openid-connect/logout`;
    const ofNobody = await newBrowser().send('GET', logout);
    browser.cookies.set('KEYCLOAK_IDENTITY', [
      ...attacker.cookies.get('KEYCLOAK_IDENTITY')!,
      ...browser.cookies.get('KEYCLOAK_IDENTITY')!,
    ]);
    const count = async (user: User) => (await world.store.listUserSessions(user.id, false)).length;
    // The logout page of a browser without a login cannot end these sessions (CSRF).
    assert.equal(errorOf(await browser.submit(ofNobody, { confirmLogout: 'Yes' })), '400 pageExpiredMessage');
    assert.deepEqual([await count(mallory), await count(victim)], [1, 2]);
    const page = await browser.send('GET', logout);
    pageOf(page, 'logout-confirm');
    pageOf(await browser.submit(page, { confirmLogout: 'Yes' }), 'info');
    assert.deepEqual([await count(mallory), await count(victim)], [0, 1]);
    assert.ok(!browser.cookies.has('KEYCLOAK_IDENTITY'));
  });

  it('planted cookies of any number, size and content do not prevent a login or cause an error', async () => {
    const junk = ['', 'x'.repeat(100_000), '%', '"', '\u00ff', '..', 'null', 'a.b.c', 'username:%zz'];
    const browser = newBrowser();
    const form = await browser.authorize();
    const [own] = browser.cookies.get('AUTH_SESSION_ID')!;
    for (const name of ['AUTH_SESSION_ID', 'KEYCLOAK_IDENTITY', 'KEYCLOAK_REMEMBER_ME', 'KEYCLOAK_LOCALE'])
      browser.cookies.set(name, name === 'AUTH_SESSION_ID' ? [...junk.slice(0, 4), own!, ...junk] : junk);
    assert.ok(isCode(await browser.logIn(form, 'alice')));
    const lost = newBrowser();
    lost.cookies.set(
      'AUTH_SESSION_ID',
      Array.from({ length: 5000 }, (_, n) => String(n)),
    );
    lost.cookies.set(
      'KEYCLOAK_IDENTITY',
      Array.from({ length: 5000 }, (_, n) => `a.b.${n}`),
    );
    pageOf(await lost.authorize(), 'login');
  });

  it('each login begins with a new tab id, form code, session and cookies', async () => {
    const browser = newBrowser();
    const form = await browser.authorize();
    const before = [...browser.cookies.values()].flat();
    const action = new URL(pageOf(form, 'login').action).searchParams;
    const one = clientAnswer(await browser.logIn(form, 'alice'));
    const again = newBrowser();
    const two = clientAnswer(await again.logIn(await again.authorize(), 'alice'));
    assert.notEqual(one['session_state'], two['session_state']);
    const after = ['KEYCLOAK_IDENTITY', 'KEYCLOAK_SESSION'].flatMap((name) => browser.cookies.get(name)!);
    const known = [...before, action.get('tab_id')!, action.get('session_code')!];
    for (const value of [...after, one['session_state']!, one['code']!])
      for (const old of known) assert.ok(!value.includes(old));
  });
});

describe('a forged form', () => {
  it('rejects a form of another realm, client or step', async () => {
    const { realm: other, user } = await newRealm();
    const { clientId } = await newClient();
    const browser = newBrowser();
    const form = await browser.authorize();
    const abroad = newBrowser(other);
    const foreign = new URL(pageOf(await abroad.authorize(), 'login').action);
    const url = new URL(pageOf(form, 'login').action);
    foreign.searchParams.set('tab_id', url.searchParams.get('tab_id')!);
    foreign.searchParams.set('session_code', url.searchParams.get('session_code')!);
    abroad.cookies.set('AUTH_SESSION_ID', browser.cookies.get('AUTH_SESSION_ID')!);
    const login = { username: user.username, password: PASSWORD };
    pageOf(await abroad.send('POST', foreign.href, login), 'expired');
    const taken = new URL(url);
    taken.searchParams.set('client_id', clientId);
    pageOf(await browser.send('POST', taken.href, { ...login, username: 'alice' }), 'expired');
    for (const path of ['required-action', 'consent']) {
      taken.href = url.href;
      taken.pathname = taken.pathname.replace('authenticate', path);
      errorOf(await browser.send('POST', taken.href, { ...login, accept: 'Yes' }));
    }
    assert.ok(isCode(await browser.logIn(form, 'alice')), 'and the right one still counts');
  });

  it('never sends a token in the query, whatever response_mode says (Multiple Response Types §5)', async () => {
    const { clientId: client_id } = await newClient({ implicitFlowEnabled: true });
    for (const response_type of ['token', 'id_token', 'code token', 'code id_token token'])
      for (const response_mode of [
        'query',
        'query.jwt',
        'fragment.jwt',
        'jwt',
        'QUERY',
        'query ',
        '',
        'fragment',
      ]) {
        const browser = newBrowser();
        const asked = await browser.authorize({ client_id, response_type, response_mode, nonce: 'n-1' });
        const answer = asked.show === 'page' ? await browser.logIn(asked, 'alice') : asked;
        assert.doesNotMatch(redirectOf(answer).search, /token|code=/, `${response_type} ${response_mode}`);
        assert.equal(asked.show === 'page', ['', 'fragment'].includes(response_mode), response_mode);
      }
  });

  it('accepts the form of each step only once, even if it is sent many times in parallel', async () => {
    const needy = await newClient({ consentRequired: true });
    const steps: [action: string, client: string, form: (n: number) => Record<string, string>][] = [
      ['UPDATE_PASSWORD', 'web', (n) => ({ 'password-new': `Other-${n}`, 'password-confirm': `Other-${n}` })],
      ['UPDATE_PROFILE', 'web', (n) => ({ firstName: `Given${n}` })],
      ['TERMS_AND_CONDITIONS', 'web', () => ({ accept: 'Yes' })],
      ['', needy.clientId, () => ({ accept: 'Yes' })],
    ];
    for (const [action, client_id, fields] of steps) {
      const user = await newUser({ requiredActions: action === '' ? [] : [action] });
      const browser = newBrowser();
      const proved = await browser.logIn(await browser.authorize({ client_id }), user.username);
      const page = await browser.follow(proved);
      const start = world.events.length;
      const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => browser.submit(page, fields(n))));
      assert.equal(answers.filter(isCode).length, 1, action);
      const done = world.events.slice(start).filter(({ error }) => error === undefined);
      const types = done.map(({ type }) => type);
      assert.equal(new Set(types).size, types.length, `logged once: ${types.join(' ')}`);
      assert.equal((await world.store.listUserSessions(user.id, false)).length, 1, action);
    }
  });

  it('every response to the client contains iss, whether the login succeeds or fails (mix-up attack, RFC 9207)', async () => {
    const needy = await newClient({ consentRequired: true, implicitFlowEnabled: true });
    const iss = 'https://id.example.test/realms/acme';
    for (const response_mode of ['query', 'fragment', 'form_post']) {
      for (const wrong of [{ response_type: 'x' }, { prompt: 'none' }, { scope: 'openid nonsense' }])
        assert.equal(clientAnswer(await newBrowser().authorize({ response_mode, ...wrong }))['iss'], iss);
      for (const fields of [{ accept: 'Yes' }, { cancel: 'No' }]) {
        const user = await newUser();
        const browser = newBrowser();
        const form = await browser.authorize({ client_id: needy.clientId, response_mode });
        const page = await browser.follow(await browser.logIn(form, user.username));
        assert.equal(clientAnswer(await browser.submit(page, fields))['iss'], iss);
      }
    }
  });
});

describe('excessive and malformed input', () => {
  it('malformed claims and request objects never cause an error in the service', async () => {
    const odd = { toString: 1, valueOf: 1 };
    const deep = JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`);
    const inside = [odd, [odd], [[odd]], null, true, deep, [null, { __proto__: null }], { values: odd }];
    for (const value of inside)
      for (const member of ['value', 'values']) {
        const claims = JSON.stringify({ id_token: { acr: { essential: true, [member]: value } } });
        const answer = await newBrowser().authorize({ claims });
        if (answer.show === 'page') continue;
        assert.match(clientAnswer(answer)['error']!, /^unmet_authentication_requirements$/);
      }
    const encode = (text: string) => Buffer.from(text).toString('base64url');
    for (const value of [...inside, odd, '\ud800', 1e21, -1, 1.5])
      for (const name of ['state', 'scope', 'claims', 'max_age', 'exp', 'aud', 'client_id', 'redirect_uri']) {
        const request = `${encode('{"alg":"none"}')}.${encode(JSON.stringify({ [name]: value }))}.`;
        const answer = await newBrowser().authorize({ request });
        if (answer.show === 'page') assert.ok(PAGE_STATUS[answer.name] < 500);
        else assert.ok(redirectOf(answer).href.startsWith(CALLBACK));
      }
  });

  it('ignores malformed levels in acr.loa.map, for requests and for tokens', async () => {
    const map = JSON.stringify({ odd: { toString: 1, valueOf: 1 }, list: [1], none: null, silver: 1 });
    const { clientId: client_id } = await newClient({ attributes: { 'acr.loa.map': map } });
    const ask = (value: string) =>
      newBrowser().authorize({
        client_id,
        claims: JSON.stringify({ id_token: { acr: { essential: true, value } } }),
      });
    for (const value of ['odd', 'list', 'none'])
      assert.equal(clientAnswer(await ask(value))['error'], 'unmet_authentication_requirements', value);
    pageOf(await ask('silver'), 'login');
    const browser = newBrowser();
    const { code } = clientAnswer(await browser.logIn(await browser.authorize({ client_id }), 'alice'));
    const form = { grant_type: 'authorization_code', client_id, code: code!, redirect_uri: CALLBACK };
    const { id_token } = await realm.tokens(form);
    const { acr } = JSON.parse(Buffer.from(id_token!.split('.')[1]!, 'base64url').toString());
    assert.equal(acr, 'silver');
  });

  it('each of 2,000 tabs of one browser can log in with its own form', async () => {
    const browser = newBrowser();
    const forms: BrowserAnswer[] = [];
    for (let tab = 0; tab < 2000; tab++) forms.push(await browser.authorize({ state: `state-${tab}` }));
    const actions = new Set(forms.map((form) => pageOf(form, 'login').action));
    assert.equal(actions.size, 2000);
    for (const tab of [0, 1000, 1999])
      assert.equal(clientAnswer(await browser.logIn(forms[tab]!, 'alice'))['state'], `state-${tab}`);
  });

  it('control characters and very long names never reach log lines, and the size of events is limited', async () => {
    const evil = `eve\r\nLOGIN ok\u2028\u0085\u001b[2J${'x'.repeat(100_000)}`;
    const browser = newBrowser();
    const form = await browser.authorize({
      login_hint: evil.slice(0, 8000),
      nonce: 'n\r\n',
      state: 's\r\nSet-Cookie: a=b',
    });
    await browser.logIn(form, evil, { password: evil });
    await newBrowser().authorize({ client_id: evil });
    await newBrowser().authorize({ redirect_uri: `https://evil.example.test/\r\n${evil.slice(0, 3000)}` });
    await newBrowser().authorize({ scope: evil.slice(0, 5000) });
    for (const event of world.events.slice(-4)) {
      const line = JSON.stringify(event);
      assert.ok(line.length < 6000, line.slice(0, 200));
      assert.doesNotMatch(line, /[\r\n]/);
      assert.ok(!line.includes('x'.repeat(2551)));
    }
  });
});
