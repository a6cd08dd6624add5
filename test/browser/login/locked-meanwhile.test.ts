import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrowserAnswer } from '../../../src/browser/index.ts';
import type { User } from '../../../src/model/index.ts';
import { PASSWORD, type RealmInWorld, refusalOf } from '../../protocol/support/world.ts';
import { type Browser, CALLBACK, errorOf, messageOf } from '../browser.ts';
import { isCode, openLoginWorld } from '../login-world.ts';
import { addDevice, oneTimePassword } from '../one-time-password.ts';

const { newBrowser, newRealm, newUser, world } = await openLoginWorld();

const guarded = {
  bruteForceProtected: true,
  failureFactor: 5,
  waitIncrementSeconds: 60,
  maxFailureWaitSeconds: 900,
  quickLoginCheckMilliSeconds: 0,
};

/** Sends wrong passwords one at a time until the user is locked. */
async function lock(realm: RealmInWorld, { username }: User): Promise<void> {
  for (let guess = 0; guess < 5; guess++) await refusalOf(realm.login(username, { password: 'wrong' }));
}

/** Sends the correct password. Returns the browser and the form for the code. */
async function atCode(realm: RealmInWorld, user: User): Promise<{ browser: Browser; form: BrowserAnswer }> {
  const browser = newBrowser(realm);
  return { browser, form: await browser.logIn(await browser.authorize(), user.username) };
}

const failuresOf = async ({ realmId, id }: User) =>
  (await world.store.findLoginFailures(realmId, id))?.failures;

describe('a user who is locked by guesses during a login', () => {
  it('a user who is locked during a login cannot continue from any page, and sees the message for disabled users', async () => {
    const { realm } = await newRealm(guarded);
    await realm.client('needy', {
      consentRequired: true,
      redirectUris: [CALLBACK],
      standardFlowEnabled: true,
    });
    const steps: [action: string, client: string, form: Record<string, string>][] = [
      ['TERMS_AND_CONDITIONS', 'web', { accept: 'Yes' }],
      ['UPDATE_PROFILE', 'web', { firstName: 'A' }],
      ['UPDATE_PASSWORD', 'web', { 'password-new': 'Other-Horse-2', 'password-confirm': 'Other-Horse-2' }],
      ['', 'needy', { accept: 'Yes' }],
    ];
    for (const [action, client_id, fields] of steps) {
      const responses: string[] = [];
      for (const change of ['locked', 'disabled'] as const) {
        const user = await newUser({ requiredActions: action === '' ? [] : [action] }, realm);
        const browser = newBrowser(realm);
        const led = await browser.logIn(await browser.authorize({ client_id }), user.username);
        const form = await browser.follow(led);
        if (change === 'locked') await lock(realm, user);
        else await realm.put({ do: 'put', user: { ...user, enabled: false } });
        const seen = await browser.follow(led);
        const answer = await browser.submit(form, fields);
        responses.push(`${errorOf(seen)} ${errorOf(answer)}`);
        assert.ok(!browser.cookies.has('KEYCLOAK_IDENTITY'), client_id);
        assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
        if (change === 'disabled') continue;
        world.clock.pass(61);
        const [password] = await world.store.listCredentials(user.id);
        assert.ok(password, 'the password is as it was');
        assert.ok(await isRight(realm, user), 'nothing was changed behind the lock');
      }
      assert.equal(responses[0], responses[1], action);
    }
  });

  async function isRight(realm: RealmInWorld, user: User): Promise<boolean> {
    const browser = newBrowser(realm);
    const answer = await browser.logIn(await browser.authorize(), user.username, { password: PASSWORD });
    return answer.show === 'redirect';
  }

  it('rejects the correct code of a locked user like a wrong one, and the code stays valid', async () => {
    const { realm } = await newRealm(guarded);
    const user = await newUser({}, realm);
    await addDevice(realm, user);
    const { browser, form } = await atCode(realm, user);
    await lock(realm, user);
    const code = oneTimePassword(world);
    const right = await browser.submit(form, { otp: code });
    const wrong = await browser.submit(right, { otp: '000000' });
    assert.deepEqual([messageOf(right), messageOf(wrong)], ['invalidTotpMessage', 'invalidTotpMessage']);
    const events = world.events.slice(-2).map(({ type, error, details }) => ({ type, error, details }));
    assert.deepEqual(events[0], events[1]);
    assert.equal(await failuresOf(user), 5);
    const step = Math.floor(world.clock.now() / 30_000);
    const [device] = (await world.store.listCredentials(user.id)).filter(({ type }) => type === 'otp');
    assert.equal(await world.store.claimOnce(`otp:${device!.id}:${step}`, 0), true);
  });
});

describe('parallel guesses at the second factor', () => {
  it('checks no more guesses at the second factor than the realm allows, however many browsers send them', async () => {
    const { realm } = await newRealm(guarded);
    for (const place of [9, 19]) {
      const user = await newUser({}, realm);
      await addDevice(realm, user);
      const waiting: Awaited<ReturnType<typeof atCode>>[] = [];
      for (let count = 0; count < 20; count++) waiting.push(await atCode(realm, user));
      const code = oneTimePassword(world);
      const answers = await Promise.all(
        waiting.map(({ browser, form }, at) =>
          browser.submit(form, { otp: at === place ? code : String(at).padStart(6, '0') }),
        ),
      );
      assert.equal(answers.filter(isCode).length, 0);
      assert.equal(new Set(answers.map(messageOf)).size, 1);
      await lock(realm, user);
      assert.equal(await failuresOf(user), 5);
    }
  });

  it('counts guesses at the second factor together with those at the password, even after the correct password', async () => {
    const { realm } = await newRealm(guarded);
    const user = await newUser({}, realm);
    await addDevice(realm, user);
    const { browser, form } = await atCode(realm, user);
    const login = newBrowser(realm);
    const loginForm = await login.authorize();
    const code = oneTimePassword(world);
    const guesses: Promise<unknown>[] = [
      browser.submit(form, { otp: '000000' }),
      login.logIn(loginForm, user.username, { password: 'wrong' }),
      ...Array.from({ length: 20 }, (_, at) =>
        refusalOf(realm.login(user.username, { otp: String(at).padStart(6, '0') })),
      ),
      refusalOf(realm.login(user.username, { otp: code })),
      ...Array.from({ length: 20 }, () =>
        refusalOf(realm.login(user.username, { otp: code, password: 'no' })),
      ),
    ];
    await Promise.all(guesses);
    assert.ok((await failuresOf(user))! <= 5);
    await lock(realm, user);
    assert.equal(await failuresOf(user), 5);
    assert.equal((await refusalOf(realm.login(user.username, { otp: code }))).case, 'user-credentials-wrong');
  });
});
