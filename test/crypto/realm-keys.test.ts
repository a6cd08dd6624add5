import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { Secret, systemRandom } from '../../src/core/index.ts';
import {
  ensureAlgorithmKey,
  ensureNamedKeys,
  freshKeyComponents,
  KEY_PROVIDER_TYPE,
  KEY_SECRET_NAMES,
  newKeyComponent,
  readKeyComponent,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
  signJws,
  verifyJws,
} from '../../src/crypto/index.ts';
import type { Component } from '../../src/model/index.ts';
import { expected, exportedRealm } from '../protocol/claims/exported-realm.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const context = {
  realm: { id: 'realm-id', name: 'acme, "Söhne"' },
  clock: { now: () => now },
  random: systemRandom,
};

async function make(wanted: Partial<Parameters<typeof newKeyComponent>[0]>): Promise<Component> {
  const result = await newKeyComponent({ ...context, providerId: 'rsa-generated', ...wanted });
  assert(result.outcome === 'made', JSON.stringify(result));
  return result.component;
}

for (const realm of ['acme', 'globex', 'initech'] as const) {
  test(`reads all keys of the real export ${realm} as active keys with the same kids (docs/keycloak/keys.md#key-set)`, () => {
    const { configuration } = exportedRealm(realm);
    const keys = configuration.components.flatMap((one) => readKeyComponent(one) ?? []);
    const active = Object.fromEntries(keys.map((key) => [key.algorithm, key.kid]));
    assert.deepEqual(active, expected().realms[realm].activeKeys);
    assert(keys.every((key) => key.status === 'ACTIVE' && key.priority === 100));
  });
}

test('a new realm gets RS256, RSA-OAEP, HS512 and AES keys with priority 100 (docs/keycloak/keys.md#key-components)', async () => {
  const components = await freshKeyComponents(context);
  assert.deepEqual(
    components.map((one) => [one.name, one.providerId, one.config.priority, one.config.algorithm?.[0]]),
    [
      ['rsa-generated', 'rsa-generated', ['100'], undefined],
      ['rsa-enc-generated', 'rsa-enc-generated', ['100'], 'RSA-OAEP'],
      ['hmac-generated-hs512', 'hmac-generated', ['100'], 'HS512'],
      ['aes-generated', 'aes-generated', ['100'], undefined],
    ],
  );
  const keys = components.map((one) => readKeyComponent(one)!);
  assert.deepEqual(
    keys.map((key) => [key.algorithm, key.type, key.use, key.status]),
    [
      ['RS256', 'RSA', 'SIG', 'ACTIVE'],
      ['RSA-OAEP', 'RSA', 'ENC', 'ACTIVE'],
      ['HS512', 'OCT', 'SIG', 'ACTIVE'],
      ['AES', 'OCT', 'ENC', 'ACTIVE'],
    ],
  );
  assert(components.every((one) => one.providerType === KEY_PROVIDER_TYPE && one.parentId === 'realm-id'));
  assert.equal(keys[2]!.privateKey.symmetricKeySize, 128);
});

test('an RSA key has a self-signed certificate for ten years with the realm as CN (docs/keycloak/keys.md#certificates)', async () => {
  const component = await make({});
  const der = Buffer.from(component.config.certificate![0]!, 'base64');
  const certificate = new X509Certificate(der);
  assert.equal(certificate.subject, 'CN=acme\\, \\"Söhne\\"');
  assert.equal(certificate.issuer, certificate.subject);
  assert(certificate.verify(certificate.publicKey));
  assert.equal(Date.parse(certificate.validFrom), now);
  assert.equal(Date.parse(certificate.validTo), Date.parse('2036-11-21T08:00:00Z'));
  const key = readKeyComponent(component)!;
  assert(certificate.checkPrivateKey(key.privateKey));
  assert.equal(key.validTo, Date.parse('2036-11-21T08:00:00Z'));
});

test('the configuration of a component contains no secret', async () => {
  for (const providerId of [
    ...['rsa-generated', 'rsa-enc-generated', 'ecdsa-generated', 'eddsa-generated'],
    ...['ecdh-generated', 'hmac-generated', 'aes-generated'],
  ]) {
    const component = await make({ providerId });
    assert(
      Object.keys(component.config).every((name) => !KEY_SECRET_NAMES.has(name)),
      providerId,
    );
    const [[pointer, secret] = ['', new Secret('')]] = Object.entries(component.secrets);
    assert.match(pointer, /^\/config\/\w+\/0$/);
    assert(!JSON.stringify(component).includes(secret.reveal()));
    assert(readKeyComponent(component));
  }
});

test('generates a key of the requested size or curve', async () => {
  const rsa = readKeyComponent(await make({ config: { keySize: ['3072'], algorithm: ['PS512'] } }))!;
  assert.equal(rsa.privateKey.asymmetricKeyDetails?.modulusLength, 3072);
  assert.equal(rsa.algorithm, 'PS512');
  for (const [curve, algorithm] of [
    ['P-256', 'ES256'],
    ['P-384', 'ES384'],
    ['P-521', 'ES512'],
  ]) {
    const config = { ecdsaEllipticCurveKey: [curve!] };
    assert.equal(
      readKeyComponent(await make({ providerId: 'ecdsa-generated', config }))!.algorithm,
      algorithm,
    );
  }
  const secret = readKeyComponent(
    await make({ providerId: 'hmac-generated', config: { secretSize: ['32'] } }),
  )!;
  assert.equal(secret.privateKey.symmetricKeySize, 32);
});

test('keeps existing key material, and generates a new key if the size or curve changes', async () => {
  const first = await make({ providerId: 'ecdsa-generated' });
  const same = await make({ providerId: 'ecdsa-generated', config: first.config, secrets: first.secrets });
  assert.equal(readKeyComponent(same)!.kid, readKeyComponent(first)!.kid);
  const config = { ...first.config, ecdsaEllipticCurveKey: ['P-384'] };
  const other = await make({ providerId: 'ecdsa-generated', config, secrets: first.secrets });
  assert.equal(readKeyComponent(other)!.algorithm, 'ES384');
});

test('accepts an imported RSA key as PEM or DER and creates its certificate', async () => {
  const made = readKeyComponent(await make({}))!;
  for (const text of [
    made.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    made.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    made.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  ]) {
    const secrets = { '/config/privateKey/0': new Secret(text) };
    const imported = await make({ providerId: 'rsa', secrets });
    assert.equal(readKeyComponent(imported)!.kid, made.kid);
    assert.equal(imported.config.certificate?.length, 1);
  }
});

test('rejects an impossible configuration and states the reason', async () => {
  const cases: [Partial<Parameters<typeof newKeyComponent>[0]>, RegExp][] = [
    [{ providerId: 'nonsense' }, /no such provider/],
    [{ config: { priority: ['high'] } }, /'Priority' should be a number/],
    [{ config: { keySize: ['1024'] } }, /'Key size'/],
    [{ config: { algorithm: ['ES256'] } }, /not supported/],
    [{ providerId: 'rsa' }, /'Private RSA Key' is required/],
    [
      { providerId: 'rsa', secrets: { '/config/privateKey/0': new Secret('x') } },
      /Failed to decode private key/,
    ],
    [{ providerId: 'ecdsa-generated', config: { ecdsaEllipticCurveKey: ['P-1'] } }, /'Elliptic Curve'/],
    [{ providerId: 'hmac-generated', config: { secretSize: ['1'] } }, /'Secret size'/],
  ];
  for (const [wanted, message] of cases) {
    const result = await newKeyComponent({ ...context, providerId: 'rsa-generated', ...wanted });
    assert.equal(result.outcome, 'invalid');
    assert(result.outcome === 'invalid');
    assert.match(result.message, message);
  }
});

test('creates one signing key for each signature algorithm that a realm names', async () => {
  let components = await freshKeyComponents(context);
  for (const algorithm of SIGNATURE_ALGORITHMS as readonly SignatureAlgorithm[]) {
    const added = await ensureAlgorithmKey({ ...context, components, algorithm });
    const isThere = algorithm === 'RS256' || algorithm === 'HS512';
    assert.equal(added === undefined, isThere, algorithm);
    if (added === undefined) continue;
    assert.equal(added.name, `fallback-${algorithm}`);
    components = [...components, added];
    const { kid, privateKey, publicKey } = readKeyComponent(added)!;
    const key = publicKey ? { kid, algorithm, privateKey, publicKey } : { kid, algorithm, privateKey };
    assert.equal(verifyJws(await signJws(key, { sub: 'x' }), () => key).outcome, 'valid');
    assert.equal(await ensureAlgorithmKey({ ...context, components, algorithm }), undefined);
  }
  assert.equal(await ensureAlgorithmKey({ ...context, components, algorithm: 'none' }), undefined);
});

test('generating an RSA key does not block the event loop', async () => {
  await make({});
  const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()];
  for (let round = 0; round < 4; round += 1) await make({ config: { keySize: ['4096'] } });
  const [own, all] = [process.threadCpuUsage(thread), process.cpuUsage(whole)];
  const [main, total] = [own.user + own.system, all.user + all.system];
  assert(main < total / 2, `${main} of ${total} µs were the main thread's`);
});

test('a realm gets a key for each algorithm that its settings, its refresh tokens or its clients require', async () => {
  const [rs256] = await freshKeyComponents(context);
  const clients = [
    { attributes: { 'id.token.signed.response.alg': 'PS256', 'access.token.signed.response.alg': '' } },
    { attributes: { 'access.token.signed.response.alg': 'EdDSA' } },
  ];
  const settings = { defaultSignatureAlgorithm: 'ES256' };
  const added = await ensureNamedKeys({ ...context, components: [rs256!], settings, clients });
  assert.deepEqual(added.map((one) => readKeyComponent(one)!.algorithm).sort(), [
    'ES256',
    'EdDSA',
    'HS512',
    'PS256',
  ]);
  const components = [rs256!, ...added];
  assert.deepEqual(await ensureNamedKeys({ ...context, components, settings, clients }), []);
});
