import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserAnswer } from '../../../src/browser/index.ts';
import type { User } from '../../../src/model/index.ts';
import { putUserProfile } from '../../protocol/support/user-profile.ts';
import {
  closePasswords,
  openWorld,
  PASSWORD,
  type RealmInWorld,
  type World,
} from '../../protocol/support/world.ts';
import { Browser, clientAnswer, errorOf, messageOf, pageOf, realmWithLogin, redirectOf } from '../browser.ts';

let world: World;
let realm: RealmInWorld;
/** A realm with a custom user profile. `realm` has the default profile. */
let own: RealmInWorld;
let names = 0;

before(async () => {
  world = await openWorld();
  const attributes = [
    { name: 'username', permissions: { view: ['admin', 'user'], edit: ['admin', 'user'] } },
    {
      name: 'email',
      displayName: `\${email}`,
      required: { roles: ['user'] },
      permissions: { view: ['admin', 'user'], edit: ['admin', 'user'] },
    },
    {
      name: 'department',
      displayName: 'Department',
      required: {},
      permissions: { view: ['user'], edit: ['user'] },
      validations: { length: { min: 3, max: 10 }, options: { options: ['sales', 'research'] } },
    },
    { name: 'badge', required: {}, permissions: { view: ['user'], edit: ['admin'] } },
    { name: 'salary', permissions: { view: ['admin'], edit: ['admin'] } },
  ];
  ({ realm } = await realmWithLogin(world, 'acme'));
  ({ realm: own } = await realmWithLogin(world, 'profile'));
  await putUserProfile(own, attributes);
});
after(async () => {
  await world.close();
  await closePasswords();
});

const newUser = (changes: Parameters<RealmInWorld['user']>[1] = {}, where = realm) =>
  where.user(`user-${++names}`, changes);
const current = async (user: User) => (await world.store.findUser(user.realmId, user.id))!;

/** Logs the user in, follows the redirect to the first required action, and returns its page. */
async function pageAfterLogin(browser: Browser, user: User, parameters = {}): Promise<BrowserAnswer> {
  const answer = await browser.logIn(await browser.authorize(parameters), user.username);
  assert.match(redirectOf(answer).pathname, /\/login-actions\/required-action$/);
  return browser.follow(answer);
}

describe('UPDATE_PASSWORD', () => {
  it('redirects to the page of UPDATE_PASSWORD, which a reload shows again', async () => {
    const user = await newUser({ requiredActions: ['UPDATE_PASSWORD'] });
    const browser = new Browser(world, realm);
    const answer = await browser.logIn(await browser.authorize(), user.username);
    const url = redirectOf(answer);
    const wanted = ['client_data', 'client_id', 'execution', 'tab_id'];
    assert.deepEqual([...url.searchParams.keys()].sort(), wanted);
    assert.equal(url.searchParams.get('execution'), 'UPDATE_PASSWORD');
    for (let time = 0; time < 2; time++) {
      const page = await browser.follow(answer);
      assert.equal(pageOf(page, 'update-password').username, user.username);
      assert.equal(messageOf(page), 'updatePasswordMessage');
    }
  });

  it('requires the new password twice, and rejects it if the password policy does not allow it', async () => {
    const { realm: own } = await realmWithLogin(world, 'policy', {
      passwordPolicy: 'length(10) and passwordHistory(2)',
    });
    const user = await newUser({ requiredActions: ['UPDATE_PASSWORD'] }, own);
    const browser = new Browser(world, own);
    let page = await pageAfterLogin(browser, user);
    for (const [form, message] of [
      [{}, 'missingPasswordMessage'],
      [{ 'password-new': 'New-Password-1' }, 'notMatchPasswordMessage'],
      [{ 'password-new': 'short', 'password-confirm': 'short' }, 'invalidPasswordMinLengthMessage'],
      [{ 'password-new': PASSWORD, 'password-confirm': PASSWORD }, 'invalidPasswordHistoryMessage'],
    ] as const) {
      page = await browser.submit(page, form);
      assert.equal(messageOf(page), message);
      assert.equal(world.events.at(-1)!.type, 'UPDATE_PASSWORD_ERROR');
    }
    const next = { 'password-new': 'New-Password-1', 'password-confirm': 'New-Password-1' };
    assert.ok(clientAnswer(await browser.submit(page, next))['code']);
    const types = (await world.store.listCredentials(user.id)).map(({ type }) => type).sort();
    assert.deepEqual(types, ['password', 'password-history']);
    assert.ok(!JSON.stringify(world.events).includes('New-Password-1'));
  });

  it('completes UPDATE_PASSWORD, ends every other session of the user, and continues this login', async () => {
    const user = await newUser();
    const other = new Browser(world, realm);
    clientAnswer(await other.logIn(await other.authorize(), user.username));
    const tokens = await realm.login(user.username, { scope: 'offline_access' });
    const half = new Browser(world, realm);
    await realm.put({ do: 'put', user: { ...user, requiredActions: ['UPDATE_PASSWORD'] } });
    const waiting = await pageAfterLogin(half, user);
    const browser = new Browser(world, realm);
    const page = await pageAfterLogin(browser, user);
    const next = { 'password-new': 'New-Password-1', 'password-confirm': 'New-Password-1' };
    const { session_state: session, code } = clientAnswer(await browser.submit(page, next));
    assert.ok(code);
    assert.deepEqual(
      (await world.store.listUserSessions(user.id, false)).map((one) => one.session.id),
      [session],
    );
    await assert.rejects(realm.refresh(tokens.refresh_token));
    assert.equal(clientAnswer(await other.authorize({ prompt: 'none' }))['error'], 'login_required');
    const late = await half.submit(waiting, next);
    assert.ok(late.show === 'page' && late.page.page === 'expired', 'a login half done elsewhere is over');
    assert.deepEqual((await current(user)).requiredActions, []);
    const types = world.events.map(({ type }) => type);
    assert.ok(types.includes('UPDATE_PASSWORD') && types.includes('UPDATE_CREDENTIAL'));
    clientAnswer(await browser.authorize({ prompt: 'none' }));
  });

  it('requires UPDATE_PASSWORD if the password is older than the policy allows', async () => {
    const { realm: own } = await realmWithLogin(world, 'age', {
      passwordPolicy: 'forceExpiredPasswordChange(2)',
    });
    const user = await newUser({}, own);
    const browser = new Browser(world, own);
    clientAnswer(await browser.logIn(await browser.authorize(), user.username));
    world.clock.pass(3 * 86_400);
    pageOf(await pageAfterLogin(new Browser(world, own), user), 'update-password');
  });
});

describe('UPDATE_PROFILE and VERIFY_PROFILE (docs/keycloak/login.md#required-actions)', () => {
  it('asks for missing values, names invalid fields, and keeps the typed values', async () => {
    const { email: _email, ...bare } = await newUser();
    await realm.put({ do: 'put', user: bare });
    const browser = new Browser(world, realm);
    const page = await pageAfterLogin(browser, bare);
    const fields = pageOf(page, 'update-profile').fields;
    assert.deepEqual(
      fields.map(({ name, required, readOnly }) => [name, required, readOnly]),
      [
        ['username', true, true],
        ['email', true, false],
        ['firstName', true, false],
        ['lastName', true, false],
      ],
    );
    const again = await browser.submit(page, { email: 'no address', firstName: 'A<b>', lastName: '' });
    const faults = pageOf(again, 'update-profile').fields.map(({ value, fault }) => [value, fault?.key]);
    assert.deepEqual(faults.slice(1), [
      ['no address', 'error-invalid-email'],
      ['A<b>', 'error-person-name-invalid-character'],
      ['', 'error-user-attribute-required'],
    ]);
    const good = { username: 'changed', email: 'New@Example.test', firstName: 'New', lastName: 'Name' };
    assert.ok(clientAnswer(await browser.submit(again, good))['code']);
    const saved = await current(bare);
    assert.deepEqual([saved.email, saved.emailVerified, saved.firstName], ['new@example.test', false, 'New']);
    assert.equal(saved.username, bare.username, 'a read-only field is not taken');
    const event = world.events.find(({ type, userId }) => type === 'UPDATE_PROFILE' && userId === bare.id)!;
    assert.equal(event.details['updated_email'], 'new@example.test');
  });

  it('rejects the e-mail address of another user', async () => {
    const taken = await newUser();
    const user = await newUser({ requiredActions: ['UPDATE_PROFILE'] });
    const browser = new Browser(world, realm);
    const page = await pageAfterLogin(browser, user);
    const again = await browser.submit(page, { email: taken.email!, firstName: 'A', lastName: 'B' });
    const field = pageOf(again, 'update-profile').fields.find(({ name }) => name === 'email');
    assert.equal(field?.fault?.key, 'emailExistsMessage');
  });

  it("uses the realm's own profile: its labels, its validators, and the fields that users may see and change", async () => {
    const user = await own.user(`user-${++names}`, { attributes: { badge: ['7'], salary: ['100'] } });
    const browser = new Browser(world, own);
    const page = await pageAfterLogin(browser, user);
    const fields = pageOf(page, 'update-profile').fields;
    assert.deepEqual(
      fields.map(({ name, label, readOnly }) => [name, label.key, label.values?.['text'], readOnly]),
      [
        ['username', 'username', undefined, true],
        ['email', 'email', undefined, false],
        ['department', 'ownLabel', 'Department', false],
        ['badge', 'ownLabel', 'badge', true],
      ],
    );
    let again = page;
    for (const [department, fault] of [
      ['ab', 'error-invalid-length-too-short'],
      ['accounting', 'error-invalid-value'],
    ] as const) {
      again = await browser.submit(again, { department });
      const field = pageOf(again, 'update-profile').fields.find(({ name }) => name === 'department');
      assert.equal(field?.fault?.key, fault);
    }
    const sent = { department: 'sales', badge: '8', salary: '1000000', groups: 'admin' };
    assert.ok(clientAnswer(await browser.submit(again, sent))['code']);
    assert.deepEqual((await current(user)).attributes, {
      badge: ['7'],
      salary: ['100'],
      department: ['sales'],
    });
  });
});

describe('TERMS_AND_CONDITIONS (docs/keycloak/login.md#required-actions)', () => {
  it('stores the time at which the user accepts the terms, or sends an error to the client if the user declines', async () => {
    const user = await newUser({ requiredActions: ['TERMS_AND_CONDITIONS'] });
    const refusing = new Browser(world, realm);
    const refused = await refusing.submit(await pageAfterLogin(refusing, user), { cancel: 'No' });
    assert.equal(clientAnswer(refused)['error'], 'access_denied');
    const browser = new Browser(world, realm);
    const page = await pageAfterLogin(browser, user);
    pageOf(page, 'terms');
    assert.ok(clientAnswer(await browser.submit(page, { accept: 'Yes' }))['code']);
    const accepted = (await current(user)).attributes['terms_and_conditions'];
    assert.deepEqual(accepted, [String(world.clock.now() / 1000)]);
  });
});

describe('required actions', () => {
  it('stops a user with an action that idkit does not have, on a page that names the action for the administrator', async () => {
    for (const action of ['VERIFY_EMAIL', 'CONFIGURE_TOTP', 'webauthn-register', 'made-up']) {
      const user = await newUser({ requiredActions: [action] });
      const browser = new Browser(world, realm);
      const page = await pageAfterLogin(browser, user);
      assert.equal(errorOf(page), '400 accountNotSetUpMessage');
      assert.equal(pageOf(page, 'error').detail, action);
      assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
      assert.equal(world.events.at(-1)!.error, 'resolve_required_actions');
    }
  });

  it("runs the actions one after another in the realm's order, and no URL skips one", async () => {
    const kept = {
      requiredActions: [
        { alias: 'UPDATE_PASSWORD', enabled: true, priority: 57 },
        { alias: 'TERMS_AND_CONDITIONS', enabled: true, priority: 20 },
        { alias: 'UPDATE_PROFILE', enabled: false, priority: 10 },
      ],
    };
    const { realm: own } = await realmWithLogin(world, 'order', { kept });
    const requiredActions = ['UPDATE_PASSWORD', 'UPDATE_PROFILE', 'TERMS_AND_CONDITIONS'];
    const user = await newUser({ requiredActions }, own);
    const browser = new Browser(world, own);
    const first = await pageAfterLogin(browser, user);
    const url = new URL(pageOf(first, 'terms').action);
    url.searchParams.set('execution', 'UPDATE_PASSWORD');
    const skipped = await browser.send('POST', url.href, {
      'password-new': 'New-Password-1',
      'password-confirm': 'New-Password-1',
    });
    assert.equal(clientAnswer(skipped)['error'], 'access_denied', 'the form is that of the terms');
    const again = new Browser(world, own);
    const terms = await pageAfterLogin(again, user);
    const next = await again.follow(await again.submit(terms, { accept: 'Yes' }));
    pageOf(next, 'update-password');
  });

  it('also requires actions in an existing session, and responds to a silent request with interaction_required', async () => {
    const user = await newUser();
    const browser = new Browser(world, realm);
    const { session_state: session } = clientAnswer(
      await browser.logIn(await browser.authorize(), user.username),
    );
    await realm.put({ do: 'put', user: { ...user, requiredActions: ['TERMS_AND_CONDITIONS'] } });
    const silent = clientAnswer(await browser.authorize({ prompt: 'none' }));
    assert.equal(silent['error'], 'interaction_required');
    const page = await browser.follow(await browser.authorize());
    const answer = clientAnswer(await browser.submit(page, { accept: 'Yes' }));
    assert.equal(answer['session_state'], session);
  });

  it('stops a required action if the account or the password of the login is no longer valid', async () => {
    const ends: ((user: User) => Promise<unknown>)[] = [
      (user) => realm.put({ do: 'put', user: { ...user, enabled: false } }),
      async (user) => {
        const [password] = await world.store.listCredentials(user.id);
        await realm.put({ do: 'remove', what: 'credential', id: password!.id });
      },
    ];
    for (const end of ends) {
      const user = await newUser({ requiredActions: ['TERMS_AND_CONDITIONS'] });
      const browser = new Browser(world, realm);
      const page = await pageAfterLogin(browser, user);
      await end(user);
      assert.equal(errorOf(await browser.submit(page, { accept: 'Yes' })), '400 accountChangedMessage');
    }
  });

  it('accepts the form of an action only from its own browser and for its own step (CSRF)', async () => {
    const user = await newUser({ requiredActions: ['UPDATE_PASSWORD'] });
    const browser = new Browser(world, realm);
    const page = await pageAfterLogin(browser, user);
    const next = { 'password-new': 'New-Password-1', 'password-confirm': 'New-Password-1' };
    assert.equal(errorOf(await new Browser(world, realm).submit(page, next)), '400 cookieNotFoundMessage');
    const other = new Browser(world, realm);
    await other.authorize();
    pageOf(await other.submit(page, next), 'expired');
    const url = new URL(pageOf(page, 'update-password').action);
    url.searchParams.set('session_code', 'x');
    pageOf(await browser.send('POST', url.href, next), 'expired');
    assert.ok((await realm.login('alice')).access_token);
    assert.deepEqual((await current(user)).requiredActions, ['UPDATE_PASSWORD']);
  });

  it('shows no action to a user who has not entered the password', async () => {
    const browser = new Browser(world, realm);
    const url = new URL(pageOf(await browser.authorize(), 'login').action);
    url.pathname = url.pathname.replace('authenticate', 'required-action');
    assert.match(redirectOf(await browser.send('GET', url.href)).pathname, /authenticate$/);
    assert.equal(
      errorOf(await browser.send('POST', url.href, { accept: 'Yes' })),
      '400 accountChangedMessage',
    );
  });
});
