import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  createSetWriter,
  decryptEnvironment,
  encryptEnvironment,
  findVerdict,
  judgeSets,
  listSets,
  type Manifest,
  makeSeal,
  openSet,
  pinSet,
  renderChecksums,
  type Verdict,
  verifySet,
} from '../../../src/backupset/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { ENVIRONMENT, makeSet, PASSPHRASE, SET_NAME, temporaryDirectory } from '../sample-set.ts';

const OTHER = '20261102_020000';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Publishes a sealed set, or a set of an older idkit. */
async function published(t: TestContext, options: Parameters<typeof makeSet>[1] = {}): Promise<string> {
  return (await makeSet(await temporaryDirectory(t), options)).publish();
}

async function judge(dir: string, passphrase: Secret | undefined = PASSPHRASE): Promise<Verdict> {
  return verifySet(await openSet(dir), passphrase === undefined ? {} : { passphrase });
}

async function judgeShut(dir: string): Promise<Verdict> {
  return verifySet(await openSet(dir));
}

/** Writes new checksums, as an attacker without the passphrase would. */
async function relist(dir: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => !['checksums.sha256', 'seal.gpg'].includes(name));
  const entries = await Promise.all(
    names.map(async (name) => ({ name, sha256: sha256(await readFile(join(dir, name))) })),
  );
  await writeFile(join(dir, 'checksums.sha256'), renderChecksums(entries));
}

async function changeManifest(dir: string, change: (manifest: Manifest) => object): Promise<void> {
  const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as Manifest;
  await writeFile(join(dir, 'manifest.json'), JSON.stringify(change(manifest)));
  await relist(dir);
}

/** Asserts that the verdict has exit code 13 and reports a problem with the seal. */
function sealIsBad(verdict: Verdict, why: RegExp): void {
  assert.equal(verdict.code, 'IDKIT_DAMAGED', JSON.stringify(verdict.problems));
  const messages = verdict.problems.filter(({ file }) => file === 'seal.gpg').map(({ message }) => message);
  assert.match(messages.join(), why);
}

test('the seal of a set covers its checksums, which do not list the seal', async (t) => {
  const dir = await published(t);
  const verdict = await judge(dir);
  assert.deepEqual([verdict.verdict, verdict.seal, verdict.problems], ['good', 'holds', []]);
  assert.equal(verdict.manifest?.sealed, true);
  assert.doesNotMatch(await readFile(join(dir, 'checksums.sha256'), 'utf8'), /seal/);
});

test('does not decrypt the seal without a passphrase, and reports it as not checked', async (t) => {
  const verdict = await judgeShut(await published(t));
  assert.deepEqual([verdict.verdict, verdict.seal], ['good', 'not checked']);
});

test('reports changed files with recomputed checksums as damage to the seal, and trusts no content', async (t) => {
  const dir = await published(t);
  const whole = join(await temporaryDirectory(t), 'whole');
  await cp(dir, whole, { recursive: true });
  for (const file of (await readdir(dir)).filter((name) => !/checksums|seal/.test(name))) {
    await writeFile(join(dir, file), Buffer.concat([await readFile(join(dir, file)), Buffer.from('\n')]));
    await relist(dir);
    const verdict = await judge(dir);
    sealIsBad(verdict, /does not match checksums\.sha256/);
    assert.equal(verdict.seal, 'broken');
    assert.deepEqual([verdict.manifest, verdict.dump], [undefined, undefined]);
    await cp(whole, dir, { recursive: true, force: true });
  }
  await writeFile(join(dir, 'more.txt'), 'planted');
  await relist(dir);
  sealIsBad(await judge(dir), /does not match/);
});

test('reports a removed seal as damage, with and without a passphrase', async (t) => {
  const dir = await published(t);
  await rm(join(dir, 'seal.gpg'));
  sealIsBad(await judge(dir), /missing, although manifest\.json says that the set is sealed/);
  sealIsBad(await judgeShut(dir), /missing/);
});

test('rejects a sealed set whose manifest was changed to that of an older idkit (exit code 13)', async (t) => {
  const changes: ((manifest: Manifest) => object)[] = [
    ({ sealed: _, ...rest }) => rest,
    (manifest) => ({ ...manifest, sealed: false }),
  ];
  for (const change of changes) {
    const dir = await published(t);
    await rm(join(dir, 'seal.gpg'));
    await changeManifest(dir, change);
    for (const verdict of [await judge(dir), await judgeShut(dir)])
      assert.equal(verdict.code, 'IDKIT_DAMAGED', JSON.stringify(verdict.problems));
  }
});

test('env.gpg reveals that a set was sealed, even if the set was changed to look like one of an older idkit', async (t) => {
  const dir = await published(t);
  await rm(join(dir, 'seal.gpg'));
  await changeManifest(dir, ({ sealed: _, ...rest }) => ({ ...rest, formatVersion: 1 }));
  sealIsBad(await judge(dir), new RegExp(`env\\.gpg was encrypted for the sealed set ${SET_NAME}`));
  const shut = await judgeShut(dir);
  assert.deepEqual([shut.verdict, shut.seal], ['good', 'unsealed']);
  await rm(join(dir, 'manifest.json'));
  await relist(dir);
  sealIsBad(await judge(dir), /encrypted for the sealed set/);
});

test('reports a set of an older idkit or of other tools as unsealed', async (t) => {
  const older = await published(t, { older: true });
  for (const verdict of [await judge(older), await judgeShut(older)]) {
    assert.deepEqual([verdict.verdict, verdict.seal], ['good', 'unsealed']);
    assert.match(verdict.notes.join(), /the set is unsealed/);
  }
});

test('accepts a seal that other tools added to an older set, with its two lines in either order', async (t) => {
  const older = await published(t, { older: true });
  const line = `${sha256(await readFile(join(older, 'checksums.sha256')))}  checksums.sha256\n`;
  for (const text of [`# set ${SET_NAME}\n${line}`, `${line}# set ${SET_NAME}\r\n`]) {
    await writeFile(join(older, 'seal.gpg'), await encryptEnvironment(Buffer.from(text), PASSPHRASE));
    const { verdict, seal } = await judge(older);
    assert.deepEqual([verdict, seal], ['good', 'holds']);
  }
});

test('rejects a seal that does not contain exactly the name of the set and the hash of the checksums', async (t) => {
  const dir = await published(t);
  const line = `${sha256(await readFile(join(dir, 'checksums.sha256')))}  checksums.sha256\n`;
  const texts = [
    '',
    line,
    `# set ${SET_NAME}\n`,
    `# set ${SET_NAME}\n${line}${line}`,
    `# set ${SET_NAME}\n# set ${OTHER}\n${line}`,
    `# set ${SET_NAME}\n${line}${line.replace('checksums', 'manifest')}`,
    `# set ../${SET_NAME}\n${line}`,
    `# set ${SET_NAME}\n${line.slice(1)}`,
    ENVIRONMENT,
    'x'.repeat(100_000),
  ];
  for (const text of texts) {
    await writeFile(join(dir, 'seal.gpg'), await encryptEnvironment(Buffer.from(text), PASSPHRASE));
    sealIsBad(await judge(dir), /./);
  }
});

test('rejects the seal of another set, and a set that has the name of another set', async (t) => {
  const root = await temporaryDirectory(t);
  const first = await (await makeSet(root)).publish();
  const second = await (await makeSet(root, { name: OTHER })).publish();
  await cp(join(first, 'seal.gpg'), join(second, 'seal.gpg'), { force: true });
  sealIsBad(await judge(second), new RegExp(`it is the seal of the set "${SET_NAME}"`));
  await rm(second, { recursive: true });
  await rename(first, second);
  sealIsBad(await judge(second), /it is the seal of the set/);
  const mine = join(root, 'mine');
  await rename(second, mine);
  const moved = await judge(mine);
  assert.deepEqual([moved.verdict, moved.seal], ['good', 'holds']);
  assert.match(moved.notes.join(), new RegExp(`the set was created with the name ${SET_NAME}`));
});

test('reports a seal with another passphrase as damage if env.gpg can be decrypted, otherwise as a wrong passphrase', async (t) => {
  const dir = await published(t);
  const list = sha256(await readFile(join(dir, 'checksums.sha256')));
  await writeFile(join(dir, 'seal.gpg'), await makeSeal(SET_NAME, list, new Secret('of a thief')));
  sealIsBad(await judge(dir), /cannot be decrypted with the passphrase that decrypts env\.gpg/);
  assert.equal((await judge(dir, new Secret('neither'))).code, 'IDKIT_CREDENTIALS');
  const partial = await published(t, { parts: ['config'] });
  assert.equal((await judge(partial, new Secret('wrong'))).code, 'IDKIT_CREDENTIALS');
});

test('rejects a seal that is not a file, is not a message or is far too long', async (t) => {
  const changes: ((seal: string) => Promise<unknown>)[] = [
    (seal) => mkdir(seal),
    (seal) => symlink('/dev/zero', seal),
    async (seal) => execFileSync('mkfifo', [seal]),
    (seal) => writeFile(seal, ''),
    (seal) => writeFile(seal, 'no message'),
    (seal) => writeFile(seal, Buffer.alloc(1_000_000, 0xc3)),
  ];
  for (const change of changes) {
    const dir = await published(t);
    await rm(join(dir, 'seal.gpg'));
    await change(join(dir, 'seal.gpg'));
    for (const verdict of [await judge(dir), await judgeShut(dir)]) sealIsBad(verdict, /./);
  }
});

test('rejects checksums that list the seal', async (t) => {
  const dir = await published(t, { older: true });
  await writeFile(join(dir, 'seal.gpg'), 'x');
  const list = await readFile(join(dir, 'checksums.sha256'), 'utf8');
  await writeFile(join(dir, 'checksums.sha256'), `${list}${sha256(Buffer.from('x'))}  seal.gpg\n`);
  sealIsBad(await judgeShut(dir), /checksums\.sha256 lists it/);
});

test('rejects a seal that would take too long to decrypt, without decrypting it', async (t) => {
  const dir = await published(t);
  const seal = await readFile(join(dir, 'seal.gpg'));
  // The session key packet comes first. It consists of a byte for the tag, a byte for the length and the body.
  const session = seal.subarray(0, 2 + seal[1]!);
  const many = Buffer.concat([...Array.from({ length: 40 }, () => session), seal.subarray(session.length)]);
  const argon = Buffer.from([0xc3, 23, 4, 9, 4, ...new Array(16).fill(7), 255, 1, 31]);
  argon[1] = argon.length - 2;
  for (const message of [many, Buffer.concat([argon, seal.subarray(session.length)])]) {
    await writeFile(join(dir, 'seal.gpg'), message);
    const began = performance.now();
    sealIsBad(await judge(dir), /more than/);
    assert.ok(performance.now() - began < 5000);
  }
});

test('env.gpg contains the name of its sealed set, which gpg does not show', async () => {
  const opened = await decryptEnvironment(
    await encryptEnvironment(Buffer.from(ENVIRONMENT), PASSPHRASE, SET_NAME),
    PASSPHRASE,
  );
  assert.equal(opened.outcome === 'opened' && Buffer.from(opened.bytes).toString(), ENVIRONMENT);
});

test('the seal is written after the checksums', async (t) => {
  const writer = await createSetWriter(await temporaryDirectory(t), SET_NAME);
  await assert.rejects(writer.writeSeal(PASSPHRASE), (error) => (error as IdkitError).code === 'IDKIT_BUG');
});

test('reading a file after the verification returns the verified content or fails', async (t) => {
  const dir = await published(t);
  const set = await openSet(dir);
  const { entries } = await verifySet(set);
  const pinned = pinSet(set, entries);
  const readAll = async (name: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of pinned.stream(name)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const file = 'keycloak-db.sql.gz';
  assert.deepEqual(await readAll(file), await readFile(join(dir, file)));
  await writeFile(join(dir, file), 'another');
  const changed = (error: unknown) =>
    error instanceof IdkitError && /it has changed since it was verified/.test(error.message);
  await assert.rejects(readAll(file), changed);
  await assert.rejects(pinned.read(file), changed);
  await writeFile(join(dir, 'planted'), 'x');
  await assert.rejects(pinned.read('planted'), /does not list it/);
});

test('a FIFO in place of a verdict or checksums does not block the list of sets', async (t) => {
  const root = await temporaryDirectory(t);
  const dir = await (await makeSet(root)).publish();
  await mkdir(join(root, '.state'));
  execFileSync('mkfifo', [join(root, '.state', `${SET_NAME}.json`)]);
  assert.equal(await findVerdict(root, SET_NAME), undefined);
  await rm(join(dir, 'checksums.sha256'));
  execFileSync('mkfifo', [join(dir, 'checksums.sha256')]);
  const [judged] = await judgeSets(root, (await listSets(root, Date.now())).sets);
  assert.equal(judged?.state, 'bad');
});
