import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findSsoSession } from '../../../src/browser/index.ts';
import { BASE_URL, closePasswords, openWorld, PASSWORD, type World } from '../../protocol/support/world.ts';
import { clientAnswer, messageOf, pageOf, redirectOf } from '../browser.ts';
import { AccountBrowser, accountOf, doneOf, realmWithAccount } from './account-realm.ts';

const NEXT = 'Another-Horse-2';
const change = { password: PASSWORD, 'password-new': NEXT, 'password-confirm': NEXT };

let world: World;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

async function realmOf(name: string, settings: Parameters<World['realm']>[1] = {}) {
  const made = await realmWithAccount(world, name, settings);
  await made.realm.client('web', {
    redirectUris: ['https://web.example.test/cb'],
    standardFlowEnabled: true,
  });
  const user = await made.user('alice');
  const browser = new AccountBrowser(world, made.realm);
  await browser.enter('alice');
  return { ...made, user, browser };
}

describe('the password page', () => {
  it('changes the password, ends every session of the user, and starts a new session for the browser', async () => {
    const { realm, user, browser } = await realmOf('change', { rememberMe: true });
    const other = new AccountBrowser(world, realm);
    await other.logIn(await other.authorize(), 'alice', { rememberMe: 'on' });
    const tokens = await realm.login('alice');
    const offline = await realm.login('alice', { scope: 'offline_access' });
    const half = new AccountBrowser(world, realm);
    const waiting = await half.authorize();
    const { sessionId: old, stateChecker } = accountOf(await browser.open('password'));
    const identity = browser.cookies.get('KEYCLOAK_IDENTITY');

    const done = await browser.send('POST', browser.url('password'), { stateChecker, ...change });
    assert.equal(doneOf(done), 'accountPasswordUpdatedMessage');
    const page = await browser.follow(done);
    assert.equal(messageOf(page), 'accountPasswordUpdatedMessage');
    const { sessionId, stateChecker: next } = accountOf(page);
    assert.notEqual(sessionId, old);
    assert.notEqual(next, stateChecker);
    assert.notDeepEqual(browser.cookies.get('KEYCLOAK_IDENTITY'), identity);
    assert.deepEqual(
      (await world.store.listUserSessions(user.id, false)).map(({ session }) => session.id),
      [sessionId],
    );
    assert.deepEqual(await world.store.listUserSessions(user.id, true), []);
    for (const token of [tokens.refresh_token, offline.refresh_token])
      await assert.rejects(realm.refresh(token));
    assert.equal(clientAnswer(await other.authorize({ prompt: 'none' }))['error'], 'login_required');
    assert.equal(messageOf(await half.logIn(waiting, 'alice')), 'invalidUserMessage');
    assert.ok(clientAnswer(await browser.authorize({ prompt: 'none' }))['code'], 'single sign-on continues');
    await assert.rejects(realm.login('alice'));
    await realm.login('alice', { password: NEXT });

    const types = world.events.filter(({ userId }) => userId === user.id).map(({ type }) => type);
    assert.ok(types.includes('UPDATE_PASSWORD') && types.includes('UPDATE_CREDENTIAL'));
    assert.ok(!JSON.stringify(world.events).includes(NEXT));
  });

  it('rejects the cookie of the earlier session after the password was changed', async () => {
    const { realm, browser } = await realmOf('old-cookie');
    const stolen = new Map(browser.cookies);
    await browser.change('password', change);
    const configuration = (await world.store.findRealm(realm.name))!;
    assert.equal(await findSsoSession(world.ctx, configuration, { cookies: stolen }), undefined);
    assert.ok(await findSsoSession(world.ctx, configuration, browser));
  });

  it('requires the new password twice, and rejects it if the password policy does not allow it', async () => {
    const { user, browser } = await realmOf('policy', {
      passwordPolicy: 'length(10) and passwordHistory(2)',
    });
    for (const [form, message] of [
      [{}, 'accountPasswordMissingMessage'],
      [{ password: PASSWORD }, 'missingPasswordMessage'],
      [{ password: PASSWORD, 'password-new': NEXT }, 'notMatchPasswordMessage'],
      [
        { password: PASSWORD, 'password-new': 'short', 'password-confirm': 'short' },
        'invalidPasswordMinLengthMessage',
      ],
      [
        { password: PASSWORD, 'password-new': PASSWORD, 'password-confirm': PASSWORD },
        'invalidPasswordHistoryMessage',
      ],
    ] as const) {
      const answer = await browser.change('password', form);
      pageOf(answer, 'account-password');
      assert.equal(messageOf(answer), message);
      assert.equal(world.events.at(-1)!.type, 'UPDATE_PASSWORD_ERROR');
    }
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 1);
  });

  it('lists all faults of a form at once, and compares with previous passwords only after the current one is correct', async () => {
    const { browser } = await realmOf('all-faults', {
      passwordPolicy: 'length(40) and digits(9) and passwordHistory(2)',
    });
    const keys = async (form: Record<string, string>) => {
      const answer = await browser.change('password', form);
      if (answer.show !== 'page') return [];
      const { key, more = [] } = answer.frame.message!;
      return [key, ...more.map((one) => one.key)];
    };
    const content = ['invalidPasswordMinLengthMessage', 'invalidPasswordMinDigitsMessage'];
    assert.deepEqual(await keys({ 'password-new': 'a', 'password-confirm': 'b' }), [
      'accountPasswordMissingMessage',
      'notMatchPasswordMessage',
      ...content,
    ]);
    const reused = { 'password-new': PASSWORD, 'password-confirm': PASSWORD };
    assert.deepEqual(await keys({ password: 'wrong', ...reused }), [
      'accountPasswordWrongMessage',
      ...content,
    ]);
    assert.deepEqual(await keys({ password: PASSWORD, ...reused }), [
      ...content,
      'invalidPasswordHistoryMessage',
    ]);
    const { rules } = pageOf(await browser.open('password'), 'account-password');
    assert.deepEqual(
      rules.map(({ key, values }) => [key, values?.[0]]),
      [
        ['invalidPasswordMinLengthMessage', '40'],
        ['invalidPasswordMinDigitsMessage', '9'],
        ['invalidPasswordHistoryMessage', '2'],
      ],
    );
  });

  it('requires the current password, and counts guesses as the login does (docs/keycloak/login.md#brute-force-protection)', async () => {
    const { realm, user, browser } = await realmOf('guess', {
      bruteForceProtected: true,
      failureFactor: 3,
      waitIncrementSeconds: 60,
      quickLoginCheckMilliSeconds: 0,
    });
    const wrong = { ...change, password: 'guess' };
    for (let guess = 0; guess < 3; guess++) {
      const answer = await browser.change('password', wrong);
      assert.equal(messageOf(answer), 'accountPasswordWrongMessage');
      assert.equal(world.events.findLast(({ type }) => type === 'UPDATE_PASSWORD_ERROR')?.userId, user.id);
    }
    assert.equal((await world.store.findLoginFailures(user.realmId, user.id))?.failures, 3);
    const locked = await browser.change('password', change);
    assert.equal(messageOf(locked), 'accountPasswordWrongMessage', 'a locked user gets the same message');
    await assert.rejects(realm.login('alice'), 'the login is locked too');
    world.clock.pass(61);
    assert.equal(doneOf(await browser.change('password', change)), 'accountPasswordUpdatedMessage');
    assert.equal(await world.store.findLoginFailures(user.realmId, user.id), undefined);
  });

  it('checks no more parallel guesses at the current password than the realm allows (docs/keycloak/login.md#brute-force-protection)', async () => {
    const { user, browser } = await realmOf('guesses', {
      bruteForceProtected: true,
      failureFactor: 3,
      waitIncrementSeconds: 60,
      quickLoginCheckMilliSeconds: 0,
    });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        browser.change('password', at === 20 ? change : { ...change, password: `guess-${at}` }),
      ),
    );
    assert.deepEqual([...new Set(answers.map(messageOf))], ['accountPasswordWrongMessage']);
    for (let guess = 0; guess < 3; guess++) await browser.change('password', { ...change, password: 'no' });
    assert.equal((await world.store.findLoginFailures(user.realmId, user.id))?.failures, 3);
  });

  it('does not overwrite a password that an administrator sets in parallel', async () => {
    const { realm, user, browser } = await realmOf('race');
    const { stateChecker } = accountOf(await browser.open('password'));
    const [old] = await world.store.listCredentials(user.id);
    const { passwords } = world.ctx;
    world.ctx.passwords = {
      ...passwords,
      forCaller: () => world.ctx.passwords,
      verify: async (...asked) => {
        const verdict = await passwords.verify(...asked);
        await realm.put(
          { do: 'remove', what: 'credential', id: old!.id },
          { do: 'create', credential: { ...old!, id: 'set-by-administrator' } },
          { do: 'endSessions', userId: user.id, offlineToo: true },
        );
        return verdict;
      },
    };
    const answer = await browser.send('POST', browser.url('password'), { stateChecker, ...change });
    world.ctx.passwords = passwords;
    assert.equal(messageOf(answer), 'accountFormOutdatedMessage');
    const [now] = await world.store.listCredentials(user.id);
    assert.equal(now?.id, 'set-by-administrator');
    assert.deepEqual(await world.store.listUserSessions(user.id, false), []);
  });

  it('redirects to the login if the user was deleted in the meantime', async () => {
    const { realm, user, browser } = await realmOf('gone');
    const { stateChecker } = accountOf(await browser.open('password'));
    await realm.put({ do: 'remove', what: 'user', id: user.id });
    const answer = await browser.send('POST', browser.url('password'), { stateChecker, ...change });
    assert.equal(
      redirectOf(answer).searchParams.get('redirect_uri'),
      `${BASE_URL}${browser.url('password')}`,
    );
  });
});
