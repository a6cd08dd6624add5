import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { clientAnswer, errorOf, messageOf, pageOf, redirectOf } from '../browser.ts';
import { openLoginWorld } from '../login-world.ts';

const { newBrowser, newRealm, newUser, realm, world } = await openLoginWorld();

describe('login with a second factor (docs/keycloak/login.md#one-time-passwords)', () => {
  const SEED = '12345678901234567890';
  const totp = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' };

  function code(counter: number): string {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(counter));
    const digest = createHmac('sha1', SEED).update(bytes).digest();
    const offset = digest.at(-1)! & 15;
    return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
  }
  const now = () => code(Math.floor(world.clock.now() / 30_000));

  it('prompts for a code after the password, under a new tab id', async () => {
    const user = await newUser();
    await realm.credential(user, 'otp', { value: SEED }, totp);
    const browser = newBrowser();
    const form = await browser.authorize();
    const asked = await browser.logIn(form, user.username);
    const page = pageOf(asked, 'otp');
    assert.equal(page.devices.length, 1);
    const tab = (url: string) => new URL(url).searchParams.get('tab_id');
    assert.notEqual(tab(page.action), tab(pageOf(form, 'login').action), 'session fixation');
    const wrong = await browser.submit(asked, { otp: '000000' });
    assert.equal(messageOf(wrong), 'invalidTotpMessage');
    clientAnswer(await browser.submit(wrong, { otp: now() }));
  });

  it('rejects a missing code and a code that was used before, and no URL skips the page', async () => {
    const user = await newUser();
    await realm.credential(user, 'otp', { value: SEED }, totp);
    const first = newBrowser();
    const used = now();
    clientAnswer(
      await first.submit(await first.logIn(await first.authorize(), user.username), { otp: used }),
    );
    const browser = newBrowser();
    let form = await browser.logIn(await browser.authorize(), user.username);
    for (const fields of [{ otp: used }, {}, { otp: '' }, { selectedCredentialId: 'nobody', otp: used }]) {
      form = await browser.submit(form, fields);
      assert.equal(messageOf(form), 'invalidTotpMessage');
    }
    const url = new URL(pageOf(form, 'otp').action);
    url.pathname = url.pathname.replace('authenticate', 'required-action');
    const around = await browser.send('GET', url.href);
    assert.match(redirectOf(around).pathname, /authenticate$/);
    pageOf(await browser.follow(around), 'otp');
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 1);
  });

  it('counts a wrong code like a wrong password, and a correct password does not reset the count', async () => {
    const { realm: own } = await newRealm({
      bruteForceProtected: true,
      failureFactor: 3,
      quickLoginCheckMilliSeconds: 0,
    });
    const user = await newUser({}, own);
    await own.credential(user, 'otp', { value: SEED }, totp);
    for (let attempt = 0; attempt < 3; attempt++) {
      const browser = newBrowser(own);
      const form = await browser.logIn(await browser.authorize(), user.username);
      assert.equal(messageOf(await browser.submit(form, { otp: '000000' })), 'invalidTotpMessage');
    }
    const browser = newBrowser(own);
    const locked = await browser.logIn(await browser.authorize(), user.username);
    assert.equal(messageOf(locked), 'invalidUserMessage');
  });

  it('rejects the login if the password is changed between the two forms', async () => {
    const user = await newUser();
    await realm.credential(user, 'otp', { value: SEED }, totp);
    const browser = newBrowser();
    const form = await browser.logIn(await browser.authorize(), user.username);
    const password = (await world.store.listCredentials(user.id)).find(({ type }) => type === 'password')!;
    await realm.put({ do: 'remove', what: 'credential', id: password.id });
    assert.equal(errorOf(await browser.submit(form, { otp: now() })), '400 accountChangedMessage');
  });

  it('rejects the login if idkit cannot check the user’s only second factor', async () => {
    const user = await newUser();
    await realm.credential(user, 'webauthn', {}, {});
    const browser = newBrowser();
    const answer = await browser.logIn(await browser.authorize(), user.username);
    assert.equal(errorOf(answer), '400 secondFactorUnsupportedMessage');
  });
});
