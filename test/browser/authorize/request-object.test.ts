import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  closePasswords,
  openWorld,
  type RealmInWorld,
  START,
  type World,
} from '../../protocol/support/world.ts';
import { Browser, CALLBACK, clientAnswer, errorOf, pageOf, realmWithLogin } from '../browser.ts';

const SECRET = 'a-secret-of-at-least-32-characters-x';
const OTHER = 'https://web.example.test/other';
let world: World;
let realm: RealmInWorld;
let key: KeyObject;

before(async () => {
  world = await openWorld();
  ({ realm } = await realmWithLogin(world, 'acme', {}, { redirectUris: [CALLBACK, OTHER] }));
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  key = pair.privateKey;
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' };
  const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
  await realm.client('secret', { ...usual, secret: SECRET });
  await realm.client('keyed', {
    ...usual,
    attributes: {
      'use.jwks.string': 'true',
      'jwks.string': JSON.stringify({ keys: [jwk] }),
      'request.object.signature.alg': 'RS256',
      'request.object.required': 'request only',
    },
  });
});
after(async () => {
  await world.close();
  await closePasswords();
});

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = (claims: object) => `${part({ alg: 'none' })}.${part(claims)}.`;
const ask = (parameters: Record<string, string | undefined>) =>
  new Browser(world, realm).authorize(parameters);

function byKey(claims: object, header: object = { alg: 'RS256', kid: 'k1' }): string {
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${createSign('sha256').update(input).sign(key).toString('base64url')}`;
}

function bySecret(claims: object, secret = SECRET): string {
  const input = `${part({ alg: 'HS256' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

describe('request objects (OpenID Connect Core §6.1)', () => {
  it('accepts a request object without a signature, and its claims take precedence', async () => {
    const request = unsigned({ redirect_uri: OTHER, state: 'inner', max_age: 10, prompt: 'none' });
    const answer = await ask({ request });
    assert.ok(answer.show === 'redirect' && answer.to.startsWith(OTHER));
    assert.match(answer.to, /state=inner/);
    const claims = unsigned({ claims: { userinfo: { name: null } }, client_id: 'web' });
    pageOf(await ask({ request: claims, redirect_uri: CALLBACK }), 'login');
    const evil = unsigned({ redirect_uri: 'https://evil.example.test/' });
    assert.equal(errorOf(await ask({ request: evil })), '400 invalidParameterMessage');
  });

  it("accepts a request object that is signed with the client's key or secret", async () => {
    const claims = { prompt: 'none', exp: START + 60, aud: 'https://id.example.test/realms/acme' };
    for (const request of [byKey(claims), byKey(claims, { alg: 'RS256' })])
      assert.equal(clientAnswer(await ask({ client_id: 'keyed', request }))['error'], 'login_required');
    const signed = bySecret(claims);
    assert.equal(
      clientAnswer(await ask({ client_id: 'secret', request: signed }))['error'],
      'login_required',
    );
  });

  const refused: [name: string, parameters: () => Record<string, string | undefined>][] = [
    ['missing, although the client must send one', () => ({ client_id: 'keyed' })],
    ['unsigned, although the client must sign it', () => ({ client_id: 'keyed', request: unsigned({}) })],
    ['signed with another secret', () => ({ client_id: 'secret', request: bySecret({}, 'x'.repeat(32)) })],
    [
      'signed with a secret, although a key is required',
      () => ({ client_id: 'keyed', request: bySecret({}) }),
    ],
    [
      'signed by an unknown key',
      () => ({ client_id: 'keyed', request: byKey({}, { alg: 'RS256', kid: 'k2' }) }),
    ],
    ['signed by a client that has no key', () => ({ request: byKey({}) })],
    [
      'changed after it was signed',
      () => ({ client_id: 'keyed', request: byKey({}).replace(/\.[^.]+\./, `.${part({ a: 1 })}.`) }),
    ],
    ['with alg none and a signature', () => ({ request: `${unsigned({})}abcd` })],
    ['of another client', () => ({ request: unsigned({ client_id: 'keyed' }) })],
    ['of another response type', () => ({ request: unsigned({ response_type: 'token' }) })],
    ['expired', () => ({ request: unsigned({ exp: START - 1 }) })],
    ['for another server', () => ({ request: unsigned({ aud: 'https://else.example.test' }) })],
    ['that contains a request object', () => ({ request: unsigned({ request: unsigned({}) }) })],
    ['that contains a NUL character', () => ({ request: unsigned({ state: 'a\0' }) })],
    ['that is not JSON', () => ({ request: `${part({ alg: 'none' })}.eA.` })],
    ['sent by reference', () => ({ request_uri: 'https://web.example.test/request' })],
  ];
  for (const [name, parameters] of refused)
    it(`rejects a request object with an error page: ${name}`, async () => {
      assert.equal(errorOf(await ask(parameters())), '400 invalidRequestMessage');
    });

  it('rejects a signed request object if the client has no registered key of that type', async () => {
    const usual = { redirectUris: [CALLBACK], standardFlowEnabled: true };
    const wrongCurve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
    const sets: unknown[] = [null, 'k1', 7, [], {}, { kid: 'k1', kty: 7 }, { ...wrongCurve, kid: 'k1' }].map(
      (one) => ({ keys: [one] }),
    );
    for (const [index, set] of [...sets, null, [], { keys: null }, { keys: { 0: null } }].entries()) {
      const clientId = `strange-${index}`;
      const attributes = { 'use.jwks.string': 'true', 'jwks.string': JSON.stringify(set) };
      await realm.client(clientId, { ...usual, attributes });
      for (const alg of ['RS256', 'ES256', 'EdDSA']) {
        const request = byKey({}, { alg, kid: 'k1' });
        const answer = await ask({ client_id: clientId, request });
        assert.equal(errorOf(answer), '400 invalidRequestMessage', `${JSON.stringify(set)} ${alg}`);
      }
    }
  });
});
