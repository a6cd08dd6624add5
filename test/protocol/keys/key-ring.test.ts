import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactVerify, createLocalJWKSet, jwtVerify } from 'jose';
import { systemClock, systemRandom } from '../../../src/core/index.ts';
import { ensureAlgorithmKey, newKeyComponent, signJws, verifyJws } from '../../../src/crypto/index.ts';
import type { Component } from '../../../src/model/index.ts';
import { openKeyRing } from '../../../src/protocol/keys/index.ts';
import type { RealmConfiguration } from '../../../src/store/index.ts';
import { expected, exportedRealm } from '../claims/exported-realm.ts';

const ring = openKeyRing();
const acme = exportedRealm('acme').configuration;

/** Returns the realm acme with these keys instead of its RS256 key. */
function withKeys(...components: Component[]): RealmConfiguration {
  return { ...acme, components };
}

async function rsaKey(config: Record<string, readonly string[]>): Promise<Component> {
  const realm = { id: acme.realm.id, name: acme.realm.name };
  const context = { realm, clock: systemClock, random: systemRandom };
  const result = await newKeyComponent({ ...context, providerId: 'ecdsa-generated', config });
  assert(result.outcome === 'made');
  return result.component;
}

test('verifies an access token of Keycloak with the imported key', async () => {
  const { rawAccessToken } = expected().clientCredentials.find(
    (one: { rawAccessToken?: string }) => one.rawAccessToken,
  );
  const result = verifyJws(rawAccessToken, (kid, algorithm) => ring.verificationKey(acme, kid, algorithm));
  assert.equal(result.outcome, 'valid');
  const published = createLocalJWKSet(ring.publish(acme) as never);
  const { payload } = await jwtVerify(rawAccessToken, published, { currentDate: new Date(1795240131000) });
  assert.equal(payload.azp, 'long-lived');
});

test('verifies an offline token of Keycloak with the imported HS512 secret', () => {
  const { refreshToken } = expected().offlineToken;
  const result = verifyJws(refreshToken, (kid, algorithm) => ring.verificationKey(acme, kid, algorithm));
  assert(result.outcome === 'valid');
  assert.equal(result.payload.typ, 'Offline');
});

test("publishes RS256 and RSA-OAEP keys with their certificates, in Keycloak's order, but no secrets (docs/keycloak/keys.md#key-set)", () => {
  const { keys } = ring.publish(acme);
  assert.deepEqual(
    keys.map((key) => [key.alg, key.use, Object.keys(key)]),
    ['RS256', 'RSA-OAEP'].map((algorithm) => [
      algorithm,
      algorithm === 'RS256' ? 'sig' : 'enc',
      ['kid', 'kty', 'alg', 'use', 'x5c', 'x5t', 'x5t#S256', 'n', 'e'],
    ]),
  );
  assert(!JSON.stringify(keys).includes('"d"'));
});

test('lists every key with the fields of the administrative API', () => {
  const listed = ring.list(acme);
  assert.deepEqual(
    new Set(listed.map((key) => `${key.algorithm} ${key.type} ${key.use} ${key.status} ${key.priority}`)),
    new Set([
      'RS256 RSA SIG ACTIVE 100',
      'HS512 OCT SIG ACTIVE 100',
      'RSA-OAEP RSA ENC ACTIVE 100',
      'AES OCT ENC ACTIVE 100',
    ]),
  );
  const rs256 = listed.find((key) => key.algorithm === 'RS256')!;
  assert.deepEqual(Object.keys(rs256).sort(), [
    ...[
      'algorithm',
      'certificate',
      'kid',
      'priority',
      'providerId',
      'publicKey',
      'status',
      'type',
      'use',
      'validTo',
    ],
  ]);
});

test('the active key with the highest priority signs; passive keys only verify, and disabled keys are not used', async () => {
  const [low, high, passive, disabled] = await Promise.all([
    rsaKey({ priority: ['10'] }),
    rsaKey({ priority: ['20'] }),
    rsaKey({ priority: ['30'], active: ['false'] }),
    rsaKey({ priority: ['40'], enabled: ['false'] }),
  ]);
  const configuration = withKeys(low!, high!, passive!, disabled!);
  const kids = ring.list(configuration).map((key) => [key.priority, key.status, key.kid] as const);
  assert.deepEqual(
    kids.map(([priority, status]) => [priority, status]),
    [
      [40, 'DISABLED'],
      [30, 'PASSIVE'],
      [20, 'ACTIVE'],
      [10, 'ACTIVE'],
    ],
  );
  const [disabledKid, passiveKid, highKid, lowKid] = kids.map(([, , kid]) => kid);
  assert.equal(ring.signingKey(configuration, 'ES256').kid, highKid);
  const verifies = (kid: string) => ring.verificationKey(configuration, kid, 'ES256') !== undefined;
  assert.deepEqual(
    [disabledKid, passiveKid, highKid, lowKid].map((kid) => verifies(kid!)),
    [false, true, true, true],
  );
  assert.deepEqual(
    ring.publish(configuration).keys.map((key) => [key.kid, Object.keys(key).join()]),
    [passiveKid, highKid, lowKid].map((kid) => [kid, 'kid,kty,alg,use,crv,x,y']),
  );
});

test('returns a key only for the algorithm that it belongs to (RFC 8725 §3.1)', () => {
  const { kid } = ring.signingKey(acme, 'RS256');
  assert.notEqual(ring.verificationKey(acme, kid, 'RS256'), undefined);
  for (const algorithm of ['RS512', 'PS256', 'HS512', 'none', '']) {
    assert.equal(ring.verificationKey(acme, kid, algorithm), undefined);
  }
});

test('fails to sign if the realm has no key for the algorithm, until a key is added', async () => {
  assert.throws(() => ring.signingKey(acme, 'ES256'), { case: 'no-signing-key' });
  const realm = { id: acme.realm.id, name: acme.realm.name };
  for (const algorithm of ['ES256', 'PS256', 'EdDSA'] as const) {
    const added = await ensureAlgorithmKey({
      realm,
      components: acme.components,
      algorithm,
      clock: systemClock,
      random: systemRandom,
    });
    const configuration = { ...acme, components: [...acme.components, added!] };
    const key = ring.signingKey(configuration, algorithm);
    const published = createLocalJWKSet(ring.publish(configuration) as never);
    await compactVerify(await signJws(key, { sub: 'x' }), published);
    assert.equal(ring.signingKey(configuration, 'RS256').kid, ring.signingKey(acme, 'RS256').kid);
  }
});

test('skips a key component whose key is unreadable', () => {
  const broken = acme.components.map((one) => ({ ...one, secrets: {} }));
  assert.deepEqual(ring.list(withKeys(...broken)), []);
  assert.deepEqual(ring.publish(withKeys(...broken)), { keys: [] });
});

test('prepares keys once for each configuration object', () => {
  assert.equal(ring.publish(acme), ring.publish(acme));
  assert.equal(ring.signingKey(acme, 'RS256'), ring.signingKey(acme, 'RS256'));
});
