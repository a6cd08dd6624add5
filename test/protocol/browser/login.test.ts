import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { closePasswords, openWorld, type RealmInWorld, type World } from '../support/world.ts';
import { Browser, clientAnswer, pageOf, realmWithLogin } from './browser.ts';

let world: World;
let realm: RealmInWorld;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme'));
});
after(async () => {
  await world.close();
  await closePasswords();
});

describe('login with a password (facts §5.10)', () => {
  it('shows the form, then answers the client with code, state, session_state and iss', async () => {
    const browser = new Browser(world, realm);
    const form = await browser.authorize();
    assert.equal(pageOf(form, 'login').fixed, false);
    const answer = clientAnswer(await browser.logIn(form, 'alice'));
    assert.deepEqual(Object.keys(answer).sort(), ['code', 'iss', 'session_state', 'state']);
    assert.equal(answer['state'], 'state-1');
    assert.match(answer['code']!, /^[\w-]{24}\.[\w-]{24}\.[0-9a-f-]{36}$/);
    const tokens = await realm.tokens({
      grant_type: 'authorization_code',
      client_id: 'web',
      code: answer['code']!,
      redirect_uri: 'https://web.example.test/cb',
    });
    assert.equal(tokens.session_state, answer['session_state']);
  });
});
