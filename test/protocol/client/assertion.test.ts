import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  BASE_URL,
  closePasswords,
  openWorld,
  type RealmInWorld,
  refusalOf,
  type World,
} from '../support/world.ts';

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
let world: World;
let realm: RealmInWorld;

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  const more = { serviceAccountsEnabled: true, clientAuthenticatorType: 'client-secret-jwt' };
  await realm.client('jwt', { secret: 'jwt-secret', ...more });
  await realm.client('plain', { secret: 'plain-secret' });
  await realm.client('key', { publicClient: false, clientAuthenticatorType: 'client-jwt' });
  for (const type of ['client-x509', 'federated-jwt', 'own-authenticator'])
    await realm.client(type, {
      secret: 'a-secret',
      serviceAccountsEnabled: true,
      clientAuthenticatorType: type,
    });
});
after(async () => {
  await world.close();
  await closePasswords();
});

function assertion(changes: Record<string, unknown> = {}, secret = 'jwt-secret', alg = 'HS256'): string {
  const now = world.clock.now() / 1000;
  const claims = {
    iss: 'jwt',
    sub: 'jwt',
    aud: `${BASE_URL}/realms/acme`,
    jti: randomUUID(),
    iat: now,
    exp: now + 60,
    ...changes,
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  const digest = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }[alg] ?? 'sha256';
  return `${input}.${createHmac(digest, secret).update(input).digest('base64url')}`;
}

const form = (client_assertion: string, more: Record<string, string> = {}) => ({
  grant_type: 'client_credentials',
  client_assertion_type: TYPE,
  client_assertion,
  ...more,
});
const refusalText = async (client_assertion: string, more = {}) => {
  const refusal = await refusalOf(realm.tokens(form(client_assertion, more)));
  return refusal.description ?? refusal.case;
};

describe('client_secret_jwt (OpenID Connect Core §9; docs/keycloak/clients.md#client-assertions)', () => {
  it('accepts a JWT signed with the secret, for the issuer or the token endpoint, without a client_id', async () => {
    assert.ok((await realm.tokens(form(assertion()))).access_token);
    const aud = `${BASE_URL}/realms/acme/protocol/openid-connect/token`;
    assert.ok((await realm.tokens(form(assertion({ aud })))).access_token);
    assert.ok((await realm.tokens(form(assertion({}, 'jwt-secret', 'HS512')))).access_token);
  });

  it('accepts each JWT only once', async () => {
    const once = assertion();
    await realm.tokens(form(once));
    assert.equal(await refusalText(once), 'Token reuse detected');
  });

  it('rejects a JWT with another secret, without a signature or with another algorithm', async () => {
    assert.equal(await refusalText(assertion({}, 'wrong')), 'client-assertion-signature');
    assert.equal(await refusalText(assertion({}, 'jwt-secret', 'none')), 'client-assertion-signature');
    assert.equal(await refusalText('a.b.c', { client_id: 'jwt' }), 'client-assertion-signature');
  });

  it('rejects a JWT that has expired, never expires, or is for another audience', async () => {
    const now = world.clock.now() / 1000;
    assert.equal(await refusalText(assertion({ exp: now - 60 })), 'Token is not active');
    assert.equal(await refusalText(assertion({ exp: undefined })), 'Token exp claim is required');
    assert.equal(
      await refusalText(assertion({ exp: now + 100_000 })),
      'Token expiration is too far in the future',
    );
    assert.equal(await refusalText(assertion({ aud: 'https://elsewhere.test' })), 'Invalid token audience');
    const two = [`${BASE_URL}/realms/acme`, 'https://elsewhere.test'];
    assert.equal(await refusalText(assertion({ aud: two })), 'Multiple audiences not allowed');
    assert.equal(await refusalText(assertion({ jti: undefined })), 'Token jti claim is required');
  });

  it('rejects a JWT for another client as if the client were unknown', async () => {
    assert.equal(await refusalText(assertion({ sub: 'plain' })), 'client-unknown');
    assert.equal(await refusalText(assertion({ sub: 'nobody' })), 'client-unknown');
  });

  it('rejects a missing assertion and an unknown assertion type', async () => {
    const only = { grant_type: 'client_credentials', client_id: 'jwt', client_assertion_type: TYPE };
    assert.equal((await refusalOf(realm.tokens(only))).description, 'client_assertion parameter missing');
    assert.match(await refusalText(assertion(), { client_assertion_type: 'urn:x' }), /client_assertion_type/);
  });

  it('rejects private_key_jwt as unsupported', async () => {
    assert.equal(await refusalText(assertion({ sub: 'key', iss: 'key' })), 'client-method-unsupported');
  });

  it('rejects the secret of a client whose authenticator is not implemented', async () => {
    for (const client_id of ['client-x509', 'federated-jwt', 'own-authenticator']) {
      const sent = { grant_type: 'client_credentials', client_id, client_secret: 'a-secret' };
      assert.equal((await refusalOf(realm.tokens(sent))).case, 'client-method-unsupported', client_id);
    }
  });
});
