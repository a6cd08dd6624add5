import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrowserAnswer } from '../../../src/browser/index.ts';
import { PASSWORD } from '../../protocol/support/world.ts';
import { clientAnswer, pageOf } from '../browser.ts';
import { isCode, openLoginWorld } from '../login-world.ts';
import { oneTimePassword } from '../one-time-password.ts';

const { newBrowser, newClient, newRealm, newUser, userWithOtp, world } = await openLoginWorld();

/**
 * Returns a page or a redirect without the parts that differ in each response: tab ids, form codes and `client_data`.
 */
function comparable(answer: BrowserAnswer): unknown {
  const text = JSON.stringify({ ...answer, cookies: answer.cookies.map(({ name }) => name) });
  return JSON.parse(text.replaceAll(/(tab_id|session_code|client_data)=[\w-]*/g, '$1='));
}

describe('the response to a guess', () => {
  /** Runs `work`, and returns the number of password hashes that it computes. */
  async function countHashes(work: () => Promise<unknown>): Promise<number> {
    const { passwords } = world.ctx;
    let count = 0;
    const counting: typeof passwords = new Proxy(passwords, {
      get(target, name: keyof typeof passwords) {
        const own = target[name];
        if (typeof own !== 'function') return own;
        if (name === 'forCaller') return () => counting;
        if (name === 'verify' || name === 'verifyNobody' || name === 'hash') count++;
        return own.bind(target);
      },
    });
    world.ctx.passwords = counting;
    try {
      await work();
    } finally {
      world.ctx.passwords = passwords;
    }
    return count;
  }

  it('responds in the same way to a wrong password, an unknown name, and a locked, disabled, passwordless or service account', async () => {
    const guarded = { bruteForceProtected: true, failureFactor: 1, quickLoginCheckMilliSeconds: 0 };
    const { realm: own } = await newRealm(guarded);
    await own.client('job', { serviceAccountsEnabled: true });
    const locked = await newUser({}, own);
    const first = newBrowser(own);
    await first.logIn(await first.authorize(), locked.username, { password: 'wrong' });
    const guesses: [name: string, password: string][] = [
      ['nobody', 'wrong'],
      ['nobody@example.test', 'wrong'],
      [(await newUser({}, own)).username, 'wrong'],
      [(await newUser({}, own)).username, ''],
      [locked.username, 'wrong'],
      [locked.username, PASSWORD],
      [(await newUser({ enabled: false }, own)).username, 'wrong'],
      [(await newUser({ password: null }, own)).username, 'wrong'],
      ['service-account-job', 'wrong'],
    ];
    const responses = new Set<string>();
    for (const [username, password] of guesses) {
      const browser = newBrowser(own);
      const form = await browser.authorize();
      let answer = form;
      const hashes = await countHashes(async () => {
        answer = await browser.logIn(form, username, { password });
      });
      assert.equal(hashes, 1, `${username} costs one hash`);
      assert.equal(pageOf(answer, 'login').username, username);
      responses.add(JSON.stringify(comparable(answer)).replaceAll(username, ''));
    }
    assert.equal(responses.size, 1, [...responses].join('\n'));
  });

  it('a silent request (prompt=none) with a login_hint reveals nothing about the user', async () => {
    const { user } = await newRealm();
    const off = await newUser({ enabled: false });
    const responses = new Set<string>();
    for (const login_hint of [undefined, 'nobody', 'alice', 'alice@example.test', off.username, user.id])
      responses.add(JSON.stringify(comparable(await newBrowser().authorize({ prompt: 'none', login_hint }))));
    assert.equal(responses.size, 1);
    assert.deepEqual(clientAnswer(await newBrowser().authorize({ prompt: 'none' })), {
      error: 'login_required',
      state: 'state-1',
      iss: 'https://id.example.test/realms/acme',
    });
  });
});

describe('the second factor is never skipped', () => {
  it('neither the URL of a later step, nor an old form, nor an extra form field skips the code', async () => {
    const user = await userWithOtp();
    const needy = await newClient({ consentRequired: true });
    for (const client_id of ['web', needy.clientId]) {
      const browser = newBrowser();
      const form = await browser.authorize({ client_id });
      const asked = await browser.logIn(form, user.username);
      const url = new URL(pageOf(asked, 'otp').action);
      for (const path of ['required-action', 'consent', 'restart'])
        for (const method of ['GET', 'POST'] as const) {
          if ((path === 'consent' && method === 'GET') || path === 'restart') continue;
          const later = new URL(url);
          later.pathname = later.pathname.replace('authenticate', path);
          const answer = await browser.send(method, later.href, { accept: 'Yes', otp: '' });
          assert.ok(!isCode(answer) && !browser.cookies.has('KEYCLOAK_IDENTITY'), `${method} ${path}`);
        }
      for (const old of [form, asked]) {
        const answer = await browser.submit(old, { username: user.username, password: PASSWORD });
        assert.ok(!isCode(answer) && !browser.cookies.has('KEYCLOAK_IDENTITY'));
      }
    }
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0);
  });

  it('checks only one of many parallel guesses from one form, and accepts a code only once, however many browsers send it', async () => {
    const user = await userWithOtp();
    const browser = newBrowser();
    const asked = await browser.logIn(await browser.authorize(), user.username);
    const wrong = Array.from({ length: 20 }, (_, guess) => String(guess).padStart(6, '0'));
    await Promise.all(
      [...wrong, oneTimePassword(world)].map((guess) => browser.submit(asked, { otp: guess })),
    );
    assert.equal((await world.store.listUserSessions(user.id, false)).length, 0, 'the first guess counted');
    world.clock.pass(120);
    const code = oneTimePassword(world);
    const waiting = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const one = newBrowser();
        return { one, form: await one.logIn(await one.authorize(), user.username) };
      }),
    );
    const answers = await Promise.all(waiting.map(({ one, form }) => one.submit(form, { otp: code })));
    assert.equal(answers.filter(isCode).length, 1);
  });
});
