import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { BrowserAnswer } from '../../../src/browser/index.ts';
import { verifyAccessToken } from '../../../src/protocol/index.ts';
import {
  claimsOf,
  closePasswords,
  openWorld,
  type RealmInWorld,
  type World,
} from '../../protocol/support/world.ts';
import { Browser, CALLBACK, clientAnswer, realmWithLogin, redirectOf } from '../browser.ts';

let world: World;
let realm: RealmInWorld;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme', {}, { implicitFlowEnabled: true }));
});
after(async () => {
  await world.close();
  await closePasswords();
});

async function answerFor(parameters: Record<string, string>): Promise<BrowserAnswer> {
  const browser = new Browser(world, realm);
  return browser.logIn(await browser.authorize({ nonce: 'n-1', ...parameters }), 'alice');
}

/** Computes the value of `at_hash` and `c_hash` (OpenID Connect Core §3.1.3.6). */
const halfHash = (text: string) =>
  createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

describe('tokens through the browser (OpenID Connect Core §3.2, §3.3)', () => {
  const types: [type: string, parts: string[]][] = [
    ['none', []],
    ['id_token', ['id_token']],
    ['token', ['access_token', 'expires_in', 'token_type']],
    ['token id_token', ['access_token', 'expires_in', 'id_token', 'token_type']],
    ['code id_token', ['code', 'id_token']],
    ['code token', ['access_token', 'code', 'expires_in', 'token_type']],
    ['id_token code token', ['access_token', 'code', 'expires_in', 'id_token', 'token_type']],
  ];
  for (const [type, parts] of types)
    it(`response_type=${type} returns ${parts.join(', ') || 'nothing but the session'}`, async () => {
      const answer = await answerFor({ response_type: type });
      const fields = clientAnswer(answer);
      const all = [...parts, 'iss', 'session_state', 'state'].sort();
      assert.deepEqual(Object.keys(fields).sort(), all);
      const url = redirectOf(answer);
      assert.equal(type === 'none' ? url.hash : url.search, '', 'tokens are in the fragment alone');
      const { id_token: idToken, access_token: accessToken, code } = fields;
      if (idToken !== undefined) {
        const claims = claimsOf(idToken);
        assert.equal(claims['nonce'], 'n-1');
        assert.equal(claims['sid'], fields['session_state']);
        assert.equal(claims['at_hash'], accessToken === undefined ? undefined : halfHash(accessToken));
        assert.equal(claims['c_hash'], code === undefined ? undefined : halfHash(code));
      }
      if (accessToken !== undefined) {
        const configuration = (await world.store.findRealm('acme'))!;
        const verified = await verifyAccessToken(world.ctx, configuration, accessToken);
        assert.equal(verified.outcome, 'active');
        assert.equal(fields['expires_in'], '900');
        await world.store.endSession(fields['session_state']!, false);
        const after = await verifyAccessToken(world.ctx, configuration, accessToken);
        assert.equal(after.outcome, 'refused', 'it ends with the session');
      }
      if (code !== undefined && accessToken === undefined) {
        const form = { grant_type: 'authorization_code', client_id: 'web', code, redirect_uri: CALLBACK };
        assert.ok((await realm.tokens(form)).refresh_token);
      }
    });

  it('requires a nonce only for an ID token, as Keycloak 26.7.3 does', async () => {
    for (const scope of ['openid', 'profile']) {
      for (const type of ['token', 'code token']) {
        const plain = await answerFor({ response_type: type, scope, nonce: '' });
        assert.ok(clientAnswer(plain)['access_token'], `${type} ${scope}`);
      }
      const browser = new Browser(world, realm);
      for (const type of ['id_token', 'code id_token', 'id_token token', 'code id_token token']) {
        const refused = clientAnswer(await browser.authorize({ response_type: type, scope }));
        assert.equal(refused['error_description'], 'Missing parameter: nonce', `${type} ${scope}`);
      }
    }
  });

  it('sends the tokens as a form if the client requests form_post', async () => {
    const answer = await answerFor({ response_type: 'code id_token', response_mode: 'form_post' });
    assert.equal(answer.show, 'form-post');
    assert.ok(clientAnswer(answer)['id_token']);
  });

  it('adds the client to the session, so that the client is notified when the session ends (Back-Channel Logout 1.0 §2.3)', async () => {
    for (const type of ['id_token', 'token', 'code id_token']) {
      const fields = clientAnswer(await answerFor({ response_type: type }));
      const web = (await world.store.findClient(realm.fixture.realm.id, 'web'))!;
      const { userId } = (await world.store.findSession(fields['session_state']!, false))!;
      const sessions = await world.store.listUserSessions(userId, false);
      const listed = sessions.find(({ session }) => session.id === fields['session_state']);
      assert.deepEqual(listed?.clientUuids, [web.id], type);
    }
  });

  it('omits iss and session_state if the client is configured that way', async () => {
    const attributes = {
      'exclude.issuer.from.auth.response': 'true',
      'exclude.session.state.from.auth.response': 'true',
    };
    const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
    await realm.client('terse', { ...usual, attributes });
    const browser = new Browser(world, realm);
    const answer = await browser.logIn(await browser.authorize({ client_id: 'terse' }), 'alice');
    assert.deepEqual(Object.keys(clientAnswer(answer)).sort(), ['code', 'state']);
  });

  it('keeps the query of the redirect URI, and returns the state byte for byte', async () => {
    const redirect = `${CALLBACK}?x=1`;
    await realm.client('query', { redirectUris: [redirect], standardFlowEnabled: true });
    const state = `-._~(,]=[*>/?'~)<^%} ä&${'x'.repeat(100)}`;
    const browser = new Browser(world, realm);
    const form = await browser.authorize({ client_id: 'query', redirect_uri: redirect, state });
    const fields = clientAnswer(await browser.logIn(form, 'alice'));
    assert.equal(fields['x'], '1');
    assert.equal(fields['state'], state);
  });
});
