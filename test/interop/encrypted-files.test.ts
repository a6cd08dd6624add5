import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { generateKey } from 'openpgp';
import { readPrivateKeyFile, readPublicKeys } from '../../src/backupset/index.ts';
import { decryptFile } from '../../src/backupset/openpgp/file-decryption.ts';
import { encryptFile } from '../../src/backupset/openpgp/file-encryption.ts';
import {
  encryptToKeys,
  encryptToPassphrase,
  type SetEncryption,
} from '../../src/backupset/openpgp/set-encryption.ts';
import { SetKeys } from '../../src/backupset/openpgp/set-keys.ts';
import { Secret, systemRandom } from '../../src/core/index.ts';
import { chunked } from '../backupset/sample-set.ts';
import { hasProgram, run } from './system-program.ts';

const PASSPHRASE = new Secret('pässwörd with spaces');
const NOW = new Date();
/** The clock of a machine can be behind. */
const BEFORE = new Date(NOW.getTime() - 3_600_000);

function encrypt(encryption: SetEncryption, content: Uint8Array): Buffer {
  const file = encryptFile(encryption, 'realm-1.json', systemRandom);
  const parts: Buffer[] = [];
  for (let at = 0; at < content.length; at += 100_000)
    parts.push(file.update(content.subarray(at, at + 100_000)));
  return Buffer.concat([...parts, file.end()]);
}

async function decrypt(message: Uint8Array, keys: SetKeys, chunkSize?: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of decryptFile(chunked(message, chunkSize), keys, 'file.gpg'))
    parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

const byPassphrase = new SetKeys({ passphrase: PASSPHRASE });

describe('a file of an encrypted set', () => {
  let home = '';
  const gpg = (args: readonly string[], input?: Uint8Array) => {
    const fixed = ['--homedir', home, '--batch', '--no-tty', '--yes', '--pinentry-mode', 'loopback'];
    const done = run(
      'gpg',
      [...fixed, '--passphrase-file', join(home, 'passphrase'), '--trust-model', 'always', ...args],
      input === undefined ? {} : { input },
    );
    assert.equal(done.status, 0, done.errors);
    return done.stdout;
  };

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'idkit-gpg-'));
    await writeFile(join(home, 'passphrase'), `${PASSPHRASE.reveal()}\n`);
  });
  after(async () => {
    spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    await rm(home, { recursive: true, force: true });
  });

  it('of gpg that is compressed and large is decrypted without a listener for each piece', async () => {
    const content = randomBytes(3_000_000);
    const args = ['--symmetric', '--cipher-algo', 'AES256', '--compress-algo', 'zlib'];
    const message = gpg(args, content);
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on('warning', onWarning);
    assert.ok((await decrypt(message, byPassphrase, 65_536)).equals(content));
    process.off('warning', onWarning);
    assert.deepEqual(warnings, []);
  });

  it('is decrypted by gpg and by idkit, byte for byte, at every length around its inner limits', async (t) => {
    if (!hasProgram(t, 'gpg')) return;
    const encryption = encryptToPassphrase(PASSPHRASE, systemRandom);
    for (const length of [0, 192, 65_520, 65_535, 65_536, 65_537, 1_000_000]) {
      const content = Buffer.from(systemRandom.bytes(length));
      const message = encrypt(encryption, content);
      assert.deepEqual(gpg(['--decrypt'], message), content, `gpg at ${length}`);
      assert.deepEqual(await decrypt(message, byPassphrase, 977), content, `idkit at ${length}`);
    }
  });

  it('is decrypted with the private key of RSA and of Curve25519 that gpg created, and only with it', async (t) => {
    if (!hasProgram(t, 'gpg')) return;
    const content = Buffer.alloc(200_000, 'content ');
    for (const [name, algorithm, usage] of [
      ['rsa@example.org', 'rsa3072', 'encr'],
      ['ecc@example.org', 'future-default', 'default'],
    ] as const) {
      gpg(['--quick-generate-key', name, algorithm, usage, 'never']);
      const publicKeys = await readPublicKeys([{ name, bytes: gpg(['--export', '--armor', name]) }], BEFORE);
      const exported = { name, bytes: gpg(['--export-secret-keys', name]) };
      const privateKeys = await readPrivateKeyFile(exported, PASSPHRASE);
      assert.deepEqual(privateKeys.fingerprints, publicKeys.fingerprints);
      const message = encrypt(await encryptToKeys(publicKeys, systemRandom), content);
      assert.deepEqual(gpg(['--decrypt'], message), content);
      assert.deepEqual(await decrypt(message, new SetKeys({ privateKeys })), content);
      const stranger = await privateKeyOf('stranger');
      await assert.rejects(decrypt(message, new SetKeys({ privateKeys: stranger })), {
        code: 'IDKIT_CREDENTIALS',
      });
      await assert.rejects(decrypt(message, byPassphrase), /is encrypted to the public key [0-9A-F]{16}$/);
      await assert.rejects(readPrivateKeyFile(exported, new Secret('wrong')), { code: 'IDKIT_CREDENTIALS' });
      await assert.rejects(readPrivateKeyFile(exported, undefined), /has a passphrase, which is missing/);
    }
  });

  it('can be written by gpg: compressed or not, to a passphrase, a key, or both', async (t) => {
    if (!hasProgram(t, 'gpg')) return;
    const name = 'both@example.org';
    gpg(['--quick-generate-key', name, 'rsa2048', 'encr', 'never']);
    const exported = { name, bytes: gpg(['--export-secret-keys', name]) };
    const byKey = new SetKeys({ privateKeys: await readPrivateKeyFile(exported, PASSPHRASE) });
    const content = Buffer.alloc(700_000, 'abc def ghi ');
    for (const [compression, args, keys] of [
      ['none', ['--symmetric'], [byPassphrase]],
      ['zlib', ['--encrypt', '-r', name], [byKey]],
      ['zip', ['--encrypt', '--symmetric', '-r', name], [byKey, byPassphrase]],
    ] as const) {
      const message = gpg([...args, '--compress-algo', compression, '--output', '-'], content);
      for (const one of keys)
        assert.deepEqual(await decrypt(message, one, 1013), content, `${compression} ${args}`);
    }
    const bzip2 = gpg(['--symmetric', '--compress-algo', 'bzip2', '--output', '-'], content);
    await assert.rejects(decrypt(bzip2, byPassphrase), { code: 'IDKIT_VERSION' });
    const camellia = gpg(['--symmetric', '--cipher-algo', 'CAMELLIA256', '--output', '-'], content);
    await assert.rejects(decrypt(camellia, byPassphrase));
  });

  it('is rejected after every change of a byte and at every truncation', async () => {
    const content = Buffer.alloc(300, 'secret ');
    const message = encrypt(encryptToPassphrase(PASSPHRASE, systemRandom), content);
    const keys = new SetKeys({ passphrase: PASSPHRASE });
    // The first packet has 15 bytes; a change there is another salt or count, which is derived as slowly as a guess.
    for (let at = 15; at < message.length; at += 1) {
      const flipped = Buffer.from(message);
      flipped[at]! ^= 1 << (at % 8);
      await assert.rejects(decrypt(flipped, keys), { name: 'IdkitError' }, `byte ${at}`);
      await assert.rejects(decrypt(message.subarray(0, at), keys), { code: 'IDKIT_DAMAGED' }, `cut at ${at}`);
    }
    await assert.rejects(decrypt(Buffer.concat([message, Buffer.of(0xcb)]), keys), /data after its end/);
  });

  it('never passes on the last bytes of a changed message', async () => {
    const content = Buffer.alloc(1_000_000, 'x');
    const message = encrypt(encryptToPassphrase(PASSPHRASE, systemRandom), content);
    message[message.length - 30]! ^= 1;
    let received = 0;
    const reading = async () => {
      for await (const part of decryptFile(chunked(message), byPassphrase, 'file.gpg'))
        received += part.length;
    };
    await assert.rejects(reading(), /does not match the hash inside the message/);
    assert.ok(received < content.length);
  });
});

describe('the keys of backup.encryptTo', () => {
  it('are rejected if they are private, expired, of another version, or no keys', async () => {
    const { privateKey } = await generateKey({ userIDs: [{ name: 'one' }], format: 'armored' });
    const expired = await generateKey({
      userIDs: [{ name: 'expired' }],
      format: 'armored',
      date: new Date(NOW.getTime() - 10_000_000),
      keyExpirationTime: 1000,
    });
    const newer = await generateKey({
      userIDs: [{ name: 'v6' }],
      format: 'armored',
      config: { v6Keys: true },
    });
    for (const [text, why] of [
      [privateKey, /contains a private key/],
      [expired.publicKey, /cannot encrypt now: .*expired/],
      [newer.publicKey, /version 6, which GnuPG 2\.2 does not read/],
      ['not a key', /is not a file with OpenPGP keys/],
      ['', /is not a file with OpenPGP keys/],
    ] as const)
      await assert.rejects(readPublicKeys([{ name: 'k.asc', bytes: Buffer.from(text) }], NOW), (error) => {
        assert.equal((error as { code: string }).code, 'IDKIT_SETTING');
        assert.match((error as Error).message, why);
        return true;
      });
  });

  it('a public key is not accepted as the key that decrypts', async () => {
    const { publicKey } = await generateKey({ userIDs: [{ name: 'one' }], format: 'armored' });
    const file = { name: 'pub.asc', bytes: Buffer.from(publicKey) };
    await assert.rejects(readPrivateKeyFile(file, undefined), /contains a public key, which cannot decrypt/);
  });
});

async function privateKeyOf(name: string) {
  const { privateKey } = await generateKey({ userIDs: [{ name }], format: 'binary' });
  return readPrivateKeyFile({ name, bytes: privateKey }, undefined);
}
