import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createMessage, encrypt } from 'openpgp';
import { decryptEnvironment, encryptEnvironment, openSet, verifySet } from '../../src/backupset/index.ts';
import { findPassphraseKey } from '../../src/backupset/openpgp/passphrase-key.ts';
import { Secret } from '../../src/core/index.ts';
import { makeSet, SET_NAME, temporaryDirectory } from '../backupset/sample-set.ts';
import { hasProgram, run } from './system-program.ts';

const ENVIRONMENT = 'IDKIT_MASTER_KEY=abc\r\nQUOTED="ü\\n"\n\n# last line without end';
const PASSPHRASE = new Secret('pässwörd with spaces');

interface Gpg {
  dir: string;
  (args: readonly string[], input?: Uint8Array | string): ReturnType<typeof run>;
}

/** Returns a function that runs this machine's gpg with a separate home directory. */
async function gpgOf(t: TestContext): Promise<Gpg | undefined> {
  if (!hasProgram(t, 'gpg')) return undefined;
  const dir = await mkdtemp(join(tmpdir(), 'idkit-gpg-'));
  t.after(async () => {
    spawnSync('gpgconf', ['--homedir', dir, '--kill', 'all']);
    await rm(dir, { recursive: true, force: true });
  });
  await writeFile(join(dir, 'passphrase'), `${PASSPHRASE.reveal()}\n`);
  const gpg = (args: readonly string[], input?: Uint8Array | string) =>
    run(
      'gpg',
      [
        '--homedir',
        dir,
        '--batch',
        '--no-tty',
        '--pinentry-mode',
        'loopback',
        '--passphrase-file',
        join(dir, 'passphrase'),
        ...args,
      ],
      input === undefined ? {} : { input },
    );
  return Object.assign(gpg, { dir });
}

test('`gpg --decrypt` restores an environment that idkit encrypted, byte for byte (docs/reference/files.md#a-backup-set)', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  for (const content of [ENVIRONMENT, '', 'x'.repeat(100_000)]) {
    const file = join(gpg.dir, 'env.gpg');
    await writeFile(file, await encryptEnvironment(Buffer.from(content), PASSPHRASE));
    const opened = gpg(['--decrypt', file]);
    assert.equal(opened.status, 0, opened.errors);
    assert.equal(opened.text, content);
  }
});

test('`gpg --decrypt seal.gpg | sha256sum -c` checks a set, and idkit accepts a seal that gpg wrote (docs/reference/files.md#a-backup-set)', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined || !hasProgram(t, 'sha256sum')) return;
  const sample = await makeSet(await temporaryDirectory(t), { older: true });
  await sample.writeSeal(PASSPHRASE);
  const dir = await sample.publish();
  const check = () =>
    run('sha256sum', ['--check', '--strict'], { cwd: dir, input: gpg(['--decrypt', seal]).stdout });
  const seal = join(dir, 'seal.gpg');
  const checked = check();
  assert.equal(checked.status, 0, checked.errors);
  assert.equal(checked.text, 'checksums.sha256: OK\n');
  assert.equal(gpg(['--decrypt', seal]).text.split('\n')[0], `# set ${SET_NAME}`);

  const line = run('sha256sum', ['checksums.sha256'], { cwd: dir }).text;
  await rm(seal);
  const made = gpg(
    ['--symmetric', '--cipher-algo', 'AES256', '--output', seal],
    `# set ${SET_NAME}\n${line}`,
  );
  assert.equal(made.status, 0, made.errors);
  const { seal: state, verdict } = await verifySet(await openSet(dir), { passphrase: PASSPHRASE });
  // The verdict is about env.gpg, which has a different passphrase in the sample.
  assert.deepEqual([state, verdict], ['holds', 'passphrase']);

  await writeFile(join(dir, 'checksums.sha256'), 'altered', { flag: 'a' });
  assert.notEqual(check().status, 0);
});

test('gpg lists one passphrase, AES-256 and integrity protection in a message of idkit', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const listed = gpg(['--list-packets'], await encryptEnvironment(Buffer.from(ENVIRONMENT), PASSPHRASE));
  assert.equal(listed.status, 0, listed.errors);
  assert.equal(
    listed.text.match(/:symkey enc packet: version 4, cipher 9, (aead 0,\s*)?s2k 3, hash 8/g)?.length,
    1,
    listed.text,
  );
  assert.match(listed.text, /mdc_method: 2/);
});

test('gpg does not decrypt a message of idkit with a wrong passphrase', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const message = await encryptEnvironment(Buffer.from(ENVIRONMENT), new Secret('another'));
  assert.equal(gpg(['--decrypt'], message).status, 2);
});

const OPTIONS: readonly (readonly string[])[] = [
  [],
  ['--armor'],
  ['--compress-algo', 'none'],
  ['--compress-algo', 'zlib'],
  ['--compress-algo', 'bzip2'],
  ['--cipher-algo', 'AES128'],
  ['--cipher-algo', '3DES', '--allow-old-cipher-algos'],
  ['--cipher-algo', 'CAST5', '--allow-old-cipher-algos'],
  ['--cipher-algo', 'TWOFISH'],
  ['--s2k-digest-algo', 'SHA512'],
  ['--s2k-mode', '1'],
];

test('idkit decrypts messages that `gpg --symmetric` wrote with various options (docs/reference/files.md#a-backup-set)', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  for (const options of OPTIONS) {
    let made = gpg([...options, '--symmetric'], ENVIRONMENT);
    // Older versions of gpg do not know this option, and newer versions require it.
    if (made.status !== 0 && options.includes('--allow-old-cipher-algos'))
      made = gpg([...options.slice(0, 2), '--symmetric'], ENVIRONMENT);
    assert.equal(made.status, 0, made.errors);
    const opened = await decryptEnvironment(made.stdout, PASSPHRASE);
    assert.equal(opened.outcome, 'opened', options.join(' '));
    assert.equal(opened.outcome === 'opened' && Buffer.from(opened.bytes).toString(), ENVIRONMENT);
  }
});

test('idkit reports a wrong passphrase for a message that gpg encrypted', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const made = gpg(['--symmetric'], ENVIRONMENT);
  assert.equal((await decryptEnvironment(made.stdout, new Secret('wrong'))).outcome, 'wrong passphrase');
});

test('idkit decrypts a large environment, which gpg writes with partial lengths, and reports a truncated one as damaged', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const content = 'KEY=value\n'.repeat(50_000);
  const made = gpg(['--compress-algo', 'none', '--symmetric'], content);
  const opened = await decryptEnvironment(made.stdout, PASSPHRASE);
  assert.equal(opened.outcome === 'opened' && Buffer.from(opened.bytes).toString(), content);
  for (const end of [made.stdout.length - 1, made.stdout.length - 300, 10_000, 20])
    assert.equal(
      (await decryptEnvironment(made.stdout.subarray(0, end), PASSPHRASE)).outcome,
      'damaged',
      String(end),
    );
});

test('reports Camellia as an unsupported cipher, with the gpg command that decrypts the message (docs/reference/commands.md#verify)', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const made = gpg(['--cipher-algo', 'CAMELLIA256', '--symmetric'], ENVIRONMENT);
  assert.equal(made.status, 0, made.errors);
  assert.deepEqual(await decryptEnvironment(made.stdout, PASSPHRASE), {
    outcome: 'unsupported cipher',
    cipher: 'Camellia-256',
    command: 'gpg --decrypt --output .env env.gpg',
  });
});

test('reports a message without integrity protection as damaged (docs/reference/commands.md#verify)', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const made = gpg(['--rfc2440', '--symmetric'], ENVIRONMENT);
  assert.equal(made.status, 0, made.errors);
  // Newer versions of gpg always add integrity protection, and then there is nothing to reject.
  const bare =
    /encrypted data packet/.test(gpg(['--list-packets'], made.stdout).text) &&
    made.stdout.includes(Buffer.of(0xc9));
  const { outcome } = await decryptEnvironment(made.stdout, PASSPHRASE);
  assert.equal(outcome, bare ? 'damaged' : 'opened');
});

test('idkit decrypts a message with either of its two passphrases, while gpg tries only the first', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const message = await encrypt({
    message: await createMessage({ binary: Buffer.from(ENVIRONMENT) }),
    passwords: [PASSPHRASE.reveal(), 'the second'],
    format: 'binary',
  });
  assert.equal(gpg(['--decrypt'], message).status, 0);
  for (const word of [PASSPHRASE, new Secret('the second')])
    assert.equal((await decryptEnvironment(message, word)).outcome, 'opened');
});

test('idkit and gpg both decrypt the env.gpg of a set that was written with ordinary tools', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const file = new URL('../fixtures/keycloak/exports/20261101_020000/env.gpg', import.meta.url);
  await writeFile(join(gpg.dir, 'passphrase'), 'backup-Passphrase-1\n');
  const opened = await decryptEnvironment(await readFile(file), new Secret('backup-Passphrase-1'));
  assert.ok(opened.outcome === 'opened');
  assert.equal(gpg(['--decrypt', file.pathname]).text, Buffer.from(opened.bytes).toString());
});

test('derives the same key as gpg from a passphrase, also if the key is longer than the hash (RFC 9580 §3.7.1)', async (t) => {
  const gpg = await gpgOf(t);
  if (gpg === undefined) return;
  const forms = [
    // The defaults of gpg: SHA-1, and 65,011,712 bytes.
    { digest: 'SHA1', cipher: 'AES256', count: 65_011_712, bytes: 32 },
    { digest: 'SHA1', cipher: 'AES256', count: 1024, bytes: 32 },
    { digest: 'SHA1', cipher: 'AES192', count: 1024, bytes: 24 },
    { digest: 'SHA1', cipher: 'AES', count: 1024, bytes: 16 },
    { digest: 'SHA256', cipher: 'AES256', count: 1024, bytes: 32 },
    { digest: 'SHA512', cipher: 'AES192', count: 1024, bytes: 24 },
  ];
  for (const { digest, cipher, count, bytes } of forms) {
    const what = `${digest} ${cipher} ${count}`;
    const made = gpg(
      [
        ...['--s2k-mode', '3', '--s2k-digest-algo', digest, '--s2k-count', String(count)],
        ...['--s2k-cipher-algo', cipher, '--cipher-algo', cipher, '--symmetric', '--output', '-'],
      ],
      ENVIRONMENT,
    );
    assert.equal(made.status, 0, made.errors);
    const message = new Uint8Array(made.stdout);
    const shown: ReturnType<typeof run> = gpg(['--show-session-key', '--decrypt'], message);
    const expected = /session key: '\d+:([0-9A-F]+)'/.exec(shown.errors)?.[1];
    assert.ok(expected, shown.errors);
    // An old packet header of two bytes precedes the packet of the session key.
    assert.deepEqual([message[0], message[1]], [0x8c, 13], what);
    const key = findPassphraseKey(message.subarray(2, 15), PASSPHRASE);
    assert.ok(key, what);
    assert.equal(Buffer.from(key.data).toString('hex').toUpperCase(), expected, what);
    assert.equal(key.data.length, bytes, what);
    const opened = await decryptEnvironment(message, PASSPHRASE);
    assert.equal(opened.outcome === 'opened' && Buffer.from(opened.bytes).toString(), ENVIRONMENT, what);
    const other = await decryptEnvironment(message, new Secret('another'));
    assert.equal(other.outcome, 'wrong passphrase', what);
  }
});
