import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMessage, encrypt, enums } from 'openpgp';
import { decryptEnvironment, encryptEnvironment } from '../../../src/backupset/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { ENVIRONMENT, PASSPHRASE } from '../sample-set.ts';

const REAL = readFileSync(
  new URL('../../fixtures/keycloak/exports/20261101_020000/env.gpg', import.meta.url),
);
const message = await encryptEnvironment(Buffer.from(ENVIRONMENT), PASSPHRASE);

async function made(passwords: string[], config: object): Promise<Uint8Array> {
  return encrypt({
    message: await createMessage({ binary: Buffer.from(ENVIRONMENT), format: 'binary' }),
    passwords,
    format: 'binary',
    config,
  });
}

test('decrypts an environment with its own passphrase and no other', async () => {
  const opened = await decryptEnvironment(message, PASSPHRASE);
  assert.equal(opened.outcome, 'opened');
  assert.equal(opened.outcome === 'opened' && Buffer.from(opened.bytes).toString(), ENVIRONMENT);
  assert.deepEqual(await decryptEnvironment(message, new Secret('another')), { outcome: 'wrong passphrase' });
});

test('writes packets that every gpg reads: version 4, AES-256, iterated over 65,011,712 bytes, SEIPD 1', () => {
  assert.deepEqual([...message.subarray(0, 6)], [0xc3, 13, 4, 9, 3, 8]);
  assert.equal(message[14], 0xff);
  assert.equal(message[15], 0xd2);
  assert.equal(message[17], 1);
  assert.equal(Buffer.from(message).includes('hunter2'), false);
});

test('decrypts messages of idkit 0.1.0, which also encrypted the session key', async () => {
  const older = await made([PASSPHRASE.reveal()], {
    aeadProtect: false,
    s2kType: enums.s2k.iterated,
    s2kIterationCountByte: 255,
  });
  assert.equal(older[1], 46);
  const opened = await decryptEnvironment(older, PASSPHRASE);
  assert.equal(opened.outcome === 'opened' && Buffer.from(opened.bytes).toString(), ENVIRONMENT);
  assert.deepEqual(await decryptEnvironment(older, new Secret('another')), { outcome: 'wrong passphrase' });
});

test('decrypts a message of a real `gpg --symmetric`', async () => {
  const opened = await decryptEnvironment(REAL, new Secret('backup-Passphrase-1'));
  assert.equal(opened.outcome, 'opened');
});

test('if a message has several passphrases, decrypts it with each of them', async () => {
  const both = await made(['first passphrase', 'second passphrase'], {});
  for (const word of ['first passphrase', 'second passphrase'])
    assert.equal((await decryptEnvironment(both, new Secret(word))).outcome, 'opened');
  assert.equal((await decryptEnvironment(both, new Secret('third'))).outcome, 'wrong passphrase');
});

test('decrypts AEAD messages as gpg 2.4 can write them', async () => {
  const aead = await made([PASSPHRASE.reveal()], {
    aeadProtect: true,
    preferredAEADAlgorithm: enums.aead.ocb,
  });
  assert.equal((await decryptEnvironment(aead, PASSPHRASE)).outcome, 'opened');
});

test('reports a truncated message as damage, not as a wrong passphrase', async () => {
  for (let end = 0; end < message.length; end++)
    assert.equal(
      (await decryptEnvironment(message.subarray(0, end), PASSPHRASE)).outcome,
      'damaged',
      String(end),
    );
});

test('reports a file that is not an encrypted message as damage', async () => {
  const cases = [
    Buffer.from('KEY=value\n'),
    Buffer.from([0xff]),
    Buffer.alloc(40),
    Buffer.concat([message, Buffer.from('x')]),
  ];
  for (const bytes of cases) assert.equal((await decryptEnvironment(bytes, PASSPHRASE)).outcome, 'damaged');
  const literal = Buffer.from([0xcb, 3, 0x62, 0, 0]);
  assert.equal((await decryptEnvironment(literal, PASSPHRASE)).outcome, 'damaged');
});

test('rejects a message without integrity protection as damaged', async () => {
  const bare = Buffer.from(message);
  bare[15] = 0xc9;
  assert.deepEqual(await decryptEnvironment(bare, PASSPHRASE), {
    outcome: 'damaged',
    why: 'it is encrypted without integrity protection',
  });
});

test('reports an unsupported cipher with the gpg command that decrypts the message', async () => {
  const camellia = Buffer.from(message);
  camellia[3] = 13;
  assert.deepEqual(await decryptEnvironment(camellia, PASSPHRASE), {
    outcome: 'unsupported cipher',
    cipher: 'Camellia-256',
    command: 'gpg --decrypt --output .env env.gpg',
  });
});

test('never returns an environment if a bit of its message is flipped', async () => {
  for (let at = 0; at < message.length; at += 5) {
    const bent = Buffer.from(message);
    bent[at]! ^= 1 << (at % 8);
    const opened = await decryptEnvironment(bent, PASSPHRASE);
    assert.notEqual(opened.outcome, 'opened', `byte ${at}`);
  }
});

test('arbitrary bytes are never decrypted and never cause an exception', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 120 }), async (bytes) => {
      const head = fc.sample(fc.constantFrom(0xc3, 0x8c, 0xd2, 0xd4, 0xc1, 0x2d), 1);
      const { outcome } = await decryptEnvironment(Buffer.concat([Buffer.from(head), bytes]), PASSPHRASE);
      assert.notEqual(outcome, 'opened');
    }),
    { numRuns: 60 },
  );
});
