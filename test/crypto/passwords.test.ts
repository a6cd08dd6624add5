import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import { after, test } from 'node:test';
import { findHashExcess, hashPolicy, openPasswords } from '../../src/crypto/index.ts';
import { exportedRealm } from '../protocol/claims/exported-realm.ts';

const passwords = openPasswords({ threads: 2 });
after(() => passwords.close());
const argon2 = hashPolicy(undefined);

/** All users of the export except one have the same password (see the README of the exports). */
const acme = [...exportedRealm('acme').passwords];

for (const [username, stored] of acme) {
  const password = username === 'ivan-emoji' ? 'pässwörd-🔐-7' : 'Correct-Horse-7';
  const { algorithm } = JSON.parse(stored.credentialData);
  test(`${username} of a real export logs in with the old ${algorithm} hash (docs/keycloak/users.md#password-hashes)`, async () => {
    const right = await passwords.verify(password, stored, argon2);
    assert.deepEqual(right, { outcome: 'match', outdated: algorithm !== 'argon2' });
    assert.deepEqual(await passwords.verify(`${password} `, stored, argon2), { outcome: 'mismatch' });
  });
}

test('two users of a realm with a thousand users log in with pbkdf2-sha512 hashes of 1,000 rounds', async () => {
  const globex = exportedRealm('globex').passwords;
  const first = await passwords.verify('Globex-pass-0', globex.get('user0000')!, argon2);
  const last = await passwords.verify('Globex-pass-999', globex.get('user0999')!, argon2);
  assert.equal(first.outcome, 'match');
  assert.equal(last.outcome, 'match');
});

test("a new hash has Keycloak's fields, order and sizes (docs/keycloak/users.md#password-hashes)", async () => {
  const made = await passwords.hash('secret', argon2);
  assert.equal(
    made.credentialData,
    '{"hashIterations":5,"algorithm":"argon2","additionalParameters":{"hashLength":["32"],"memory":["7168"],"type":["id"],"version":["1.3"],"parallelism":["1"]}}',
  );
  const secret = JSON.parse(made.secretData);
  assert.deepEqual(Object.keys(secret), ['value', 'salt', 'additionalParameters']);
  assert.equal(Buffer.from(secret.value, 'base64').length, 32);
  assert.equal(Buffer.from(secret.salt, 'base64').length, 16);
  assert.deepEqual(await passwords.verify('secret', made, argon2), { outcome: 'match', outdated: false });
  const again = await passwords.hash('secret', argon2);
  assert.notEqual(again.secretData, made.secretData);
});

for (const [algorithm, bytes] of [
  ['pbkdf2', 64],
  ['pbkdf2-sha256', 32],
  ['pbkdf2-sha512', 64],
] as const) {
  test(`hashes a password to ${bytes} bytes with ${algorithm} if the policy names that algorithm (docs/keycloak/users.md#password-hashes)`, async () => {
    const policy = hashPolicy(`hashAlgorithm(${algorithm}) and hashIterations(1000)`);
    const made = await passwords.hash('secret', policy);
    assert.deepEqual(JSON.parse(made.credentialData), {
      hashIterations: 1000,
      algorithm,
      additionalParameters: {},
    });
    assert.equal(Buffer.from(JSON.parse(made.secretData).value, 'base64').length, bytes);
    assert.deepEqual(await passwords.verify('secret', made, policy), { outcome: 'match', outdated: false });
    assert.deepEqual(await passwords.verify('secret', made, argon2), { outcome: 'match', outdated: true });
  });
}

test('verifies a PBKDF2 hash whose length differs from that of new hashes, and reports it as outdated', async () => {
  const salt = Buffer.from('sixteen bytes ok');
  const value = pbkdf2Sync('secret', salt, 1000, 64, 'sha256').toString('base64');
  const stored = {
    secretData: JSON.stringify({ value, salt: salt.toString('base64'), additionalParameters: {} }),
    credentialData: '{"hashIterations":1000,"algorithm":"pbkdf2-sha256","additionalParameters":{}}',
  };
  const policy = hashPolicy('hashAlgorithm(pbkdf2-sha256) and hashIterations(1000)');
  assert.deepEqual(await passwords.verify('secret', stored, policy), { outcome: 'match', outdated: true });
});

test('a hash with an unknown algorithm, broken data or absurd parameters never matches, without an error', async () => {
  const good = await passwords.hash('secret', argon2);
  const data = JSON.parse(good.credentialData);
  const extra = data.additionalParameters;
  const bad = [
    { algorithm: 'scrypt' },
    { algorithm: undefined },
    { hashIterations: 0 },
    { hashIterations: 1e9 },
    { hashIterations: '5' },
    { additionalParameters: { ...extra, memory: ['99999999'] } },
    { additionalParameters: { ...extra, memory: ['-1'] } },
    { additionalParameters: { ...extra, parallelism: ['4096'] } },
    { additionalParameters: { ...extra, type: ['x'] } },
    { additionalParameters: { ...extra, version: ['9'] } },
    { algorithm: 'pbkdf2-sha512', hashIterations: 2_000_000_000 },
  ];
  for (const change of bad) {
    const stored = { ...good, credentialData: JSON.stringify({ ...data, ...change }) };
    assert.deepEqual(
      await passwords.verify('secret', stored, argon2),
      { outcome: 'unsupported' },
      JSON.stringify(change),
    );
  }
  for (const secretData of [
    '',
    '{}',
    'null',
    '{"value":"AAAA"}',
    '{"value":"!!","salt":"AAAA"}',
    '{"value":"","salt":""}',
  ]) {
    const outcome = await passwords.verify('secret', { ...good, secretData }, argon2);
    assert.deepEqual(outcome, { outcome: 'unsupported' }, secretData);
  }
  const shortSalt = JSON.stringify({ value: 'AAAAAAAA', salt: 'AAAA' });
  const outcome = await passwords.verify('secret', { ...good, secretData: shortSalt }, argon2);
  assert.notEqual(outcome.outcome, 'match');
  assert.equal((await passwords.verify('secret', good, argon2)).outcome, 'match');
});

test('does not verify a hash that would take more than about a second, and states the reason', async () => {
  const salt = Buffer.alloc(16).toString('base64');
  const stored = (data: object, bytes = 32) => ({
    secretData: JSON.stringify({ value: Buffer.alloc(bytes).toString('base64'), salt }),
    credentialData: JSON.stringify(data),
  });
  const argon = (memory: number, hashIterations: number, parallelism = 1) =>
    stored({
      algorithm: 'argon2',
      hashIterations,
      additionalParameters: { memory: [`${memory}`], parallelism: [`${parallelism}`] },
    });
  const pbkdf2 = (algorithm: string, hashIterations: number, bytes: number) =>
    stored({ algorithm, hashIterations, additionalParameters: {} }, bytes);
  for (const [excess, credential] of [
    [/^memory is 262145 KiB, but at most 262144/, argon(262_145, 1)],
    [/^hashIterations is 17, but at most 16 .* 262144 KiB/, argon(262_144, 17)],
    [/^hashIterations is 586, but at most 585 .* 7168 KiB/, argon(7168, 586)],
    [/^parallelism is 17/, argon(7168, 5, 17)],
    [/^hashIterations is 8192001, /, pbkdf2('pbkdf2-sha256', 8_192_001, 32)],
    [/^hashIterations is 4096001, /, pbkdf2('pbkdf2-sha512', 4_096_001, 64)],
    [/^hashIterations is 2048001, .* 64 bytes/, pbkdf2('pbkdf2', 2_048_001, 64)],
    [/^the hash has 1025 bytes/, pbkdf2('pbkdf2-sha256', 1000, 1025)],
  ] as const) {
    assert.match(findHashExcess(credential) ?? '', excess);
    const began = process.cpuUsage();
    assert.deepEqual(await passwords.verify('secret', credential, argon2), { outcome: 'unsupported' });
    assert.ok(process.cpuUsage(began).user < 500_000);
  }
  for (const credential of [
    argon(262_144, 16),
    argon(7168, 100),
    pbkdf2('pbkdf2', 1_300_000, 64),
    pbkdf2('pbkdf2-sha512', 210_000, 64),
    pbkdf2('scrypt', 1e9, 64),
  ])
    assert.equal(findHashExcess(credential), undefined);
  assert.deepEqual(hashPolicy('hashAlgorithm(pbkdf2) and hashIterations(2048001)'), { algorithm: 'pbkdf2' });
});

test('hashing a password does not block the event loop', async () => {
  await passwords.hash('warm', argon2);
  const before = process.threadCpuUsage();
  await passwords.hash('secret', { algorithm: 'pbkdf2-sha512', iterations: 400_000 });
  const { user, system } = process.threadCpuUsage(before);
  assert(user + system < 60_000, `it took ${user + system} µs of the main thread`);
});

test('verifies every password, even if there are more logins than threads', async () => {
  const stored = await passwords.hash('secret', argon2);
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      passwords.verify(index % 2 ? 'secret' : 'wrong', stored, argon2),
    ),
  );
  assert.deepEqual(
    outcomes.map((one) => one.outcome),
    Array.from({ length: 40 }, (_, index) => (index % 2 ? 'match' : 'mismatch')),
  );
});

test('after close, new and waiting hashes are rejected', async () => {
  const closing = openPasswords({ threads: 1 });
  const work = Array.from({ length: 12 }, () => closing.verifyNobody('secret', argon2));
  await work[0];
  const settled = Promise.allSettled(work);
  await closing.close();
  // Of the twelve jobs, one has its result, the thread has received the next eight, and three are still waiting.
  assert((await settled).slice(-3).every((one) => one.status === 'rejected'));
  await assert.rejects(closing.hash('secret', argon2), { code: 'IDKIT_BUG' });
});

test('a policy for Argon2 ignores iteration counts above 100, which were meant for PBKDF2', () => {
  assert.deepEqual(hashPolicy('hashIterations(27500)'), { algorithm: 'argon2' });
  assert.deepEqual(hashPolicy('hashIterations(7)'), { algorithm: 'argon2', iterations: 7 });
  assert.deepEqual(hashPolicy('hashAlgorithm(pbkdf2-sha256) and hashIterations(27500)'), {
    algorithm: 'pbkdf2-sha256',
    iterations: 27_500,
  });
  assert.deepEqual(hashPolicy('hashAlgorithm(nonsense)'), { algorithm: 'argon2' });
});
