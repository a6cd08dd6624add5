import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newLoginRow } from '../../../src/browser/login/login-row.ts';
import { storeNewLogin } from '../../../src/browser/login/open-logins.ts';
import type { AuthenticationSession } from '../../../src/model/index.ts';
import { errorOf, pageOf } from '../browser.ts';
import { isCode, openLoginWorld } from '../login-world.ts';

const { newBrowser, newRealm, world } = await openLoginWorld();

/** Builds a login of the realm's client whose user is not authenticated yet. */
async function rowOf(realm: Awaited<ReturnType<typeof newRealm>>['realm']): Promise<AuthenticationSession> {
  const configuration = (await world.store.findRealm(realm.name))!;
  const client = (await world.store.findClient(configuration.realm.id, 'web'))!;
  const call = { ctx: world.ctx, configuration, now: world.clock.now() / 1000 };
  const request = {
    redirectUri: 'https://app.example.test/cb',
    redirectUriSent: true,
    responseType: 'code',
    responseMode: 'query',
    prompt: [],
  } as const;
  return newLoginRow(call as never, client, request as never, Buffer.alloc(32));
}

it('limits the number of a realm’s logins in progress, and removes the oldest first', async () => {
  const { realm } = await newRealm();
  const open = async () => (await world.store.figures()).openLogins;
  const before = await open();
  const half = newBrowser(realm);
  const code = await half.authorize();
  for (let at = 0; at < 1100; at++) {
    if (at % 256 === 0) world.clock.pass(1);
    const sender = { sender: `192.0.2.${at % 250}`, now: world.clock.now() / 1000 };
    await storeNewLogin(world.store, await rowOf(realm), sender, { ofRealm: 300, ofSender: 100 });
    if (at % 100 === 0) assert.ok((await open()) - before <= 300 + 256, `after ${at}: ${await open()}`);
  }
  const answer = await half.logIn(code, 'alice');
  assert.ok(!isCode(answer), 'the oldest went');
  const late = newBrowser(realm);
  assert.ok(isCode(await late.logIn(await late.authorize(), 'alice')), 'a new one gets through');
});

it('limits the logins of one sender, and keeps logins with a verified password and those of other senders', async () => {
  const { realm } = await newRealm();
  const open = async () => (await world.store.figures()).openLogins;
  const before = await open();
  const half = newBrowser(realm);
  const form = await half.authorize();
  const mine = { sender: '203.0.113.5', now: world.clock.now() / 1000 };
  const most = { ofRealm: 300, ofSender: 20 };
  const proved = { ...(await rowOf(realm)), notes: { passwordUser: 'alice' } };
  await storeNewLogin(world.store, proved, mine, most);
  for (let at = 0; at < 250; at++) await storeNewLogin(world.store, await rowOf(realm), mine, most);
  assert.equal((await open()) - before, 22, 'one of the other sender, one with a verified password, and 20');
  assert.ok(await world.store.findAuthenticationSession(proved.id));
  assert.ok(isCode(await half.logIn(form, 'alice')));
});

it('rejects a request with more than 8 kB to store, or with a value of more than 4,000 characters', async () => {
  const { realm } = await newRealm();
  const ask = (parameters: Record<string, string>) => newBrowser(realm).authorize(parameters);
  const rows = (await world.store.figures()).openLogins;
  assert.equal(errorOf(await ask({ state: 'x'.repeat(4001) })), '400 invalidParameterMessage');
  const most = {
    state: 'x'.repeat(4000),
    nonce: 'y'.repeat(4000),
    claims: JSON.stringify({ x: 'z'.repeat(500) }),
  };
  assert.equal(errorOf(await ask(most)), '400 invalidRequestMessage');
  assert.equal(errorOf(await ask({ state: '漢'.repeat(2800) })), '400 invalidRequestMessage');
  assert.equal(world.events.at(-1)?.error, 'invalid_request');
  assert.equal((await world.store.figures()).openLogins, rows, 'nothing is stored');
  pageOf(await ask({ state: 'x'.repeat(4000), nonce: 'y'.repeat(3000) }), 'login');
});
