import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  createSetWriter,
  listSets,
  openSet,
  reapLeftovers,
  verifySet,
} from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { makeSet, PASSPHRASE, SET_NAME, temporaryDirectory } from '../sample-set.ts';

const fails = (code: string) => (error: unknown) => error instanceof IdkitError && error.code === code;

test('a complete set appears under its final name with one rename', async (t) => {
  const root = join(await temporaryDirectory(t), 'not/yet');
  const writer = await makeSet(root);
  assert.deepEqual((await listSets(root, Date.now())).sets, []);
  assert.match(writer.dir, new RegExp(`/\\.partial-${SET_NAME}-${process.pid}$`));
  assert.equal((await writer.readBack({ passphrase: PASSPHRASE })).verdict, 'good');
  const dir = await writer.publish();
  assert.equal(dir, join(root, SET_NAME));
  assert.deepEqual(await readdir(root), [SET_NAME]);
  await writer.abandon();
  assert.equal((await verifySet(await openSet(dir), { passphrase: PASSPHRASE })).verdict, 'good');
});

test('creates the directory with mode 0700 and files with mode 0600', async (t) => {
  const root = await temporaryDirectory(t);
  const dir = await (await makeSet(root)).publish();
  assert.equal((await lstat(dir)).mode & 0o777, 0o700);
  for (const file of await readdir(dir))
    assert.equal((await lstat(join(dir, file))).mode & 0o777, 0o600, file);
});

test('hashes the bytes that it writes', async (t) => {
  const writer = await createSetWriter(await temporaryDirectory(t), SET_NAME);
  const file = await writer.createFile('f');
  await file.write(Buffer.from('ab'));
  await file.write(Buffer.from('c'));
  const digest = await file.close();
  assert.deepEqual(digest, { bytes: 3, sha256: createHash('sha256').update('abc').digest('hex') });
  assert.deepEqual(writer.files.get('f'), digest);
});

test('does not publish a set without its checksums or over another set', async (t) => {
  const root = await temporaryDirectory(t);
  const writer = await createSetWriter(root, SET_NAME);
  await writer.putFile('a', 'a');
  await assert.rejects(writer.publish(), fails('IDKIT_FAILED'));
  await writer.writeChecksums();
  await assert.rejects(writer.putFile('b', 'b'), fails('IDKIT_BUG'));
  await mkdir(join(root, SET_NAME));
  await assert.rejects(writer.publish(), fails('IDKIT_FAILED'));
});

test('readBack reports a file that has changed on the disk since it was written', async (t) => {
  const writer = await makeSet(await temporaryDirectory(t));
  await writeFile(join(writer.dir, 'env.gpg'), 'rot');
  const verdict = await writer.readBack();
  assert.equal(verdict.verdict, 'damaged');
  assert.equal(verdict.problems[0]?.file, 'env.gpg');
});

test('an abandoned set leaves nothing behind', async (t) => {
  const root = await temporaryDirectory(t);
  await (await makeSet(root)).abandon();
  assert.deepEqual(await readdir(root), []);
});

test('removes the leftovers of ended runs, but no foreign file', async (t) => {
  const root = await temporaryDirectory(t);
  for (const name of [
    '.partial-20261101_020000-1',
    '.trash-20261001_020000',
    '.partial-mine',
    '.state',
    'photos',
    SET_NAME,
  ])
    await mkdir(join(root, name, 'inside'), { recursive: true });
  assert.deepEqual(await reapLeftovers(root), ['.partial-20261101_020000-1', '.trash-20261001_020000']);
  assert.deepEqual((await readdir(root)).sort(), ['.partial-mine', '.state', SET_NAME, 'photos']);
});

test('reports a root that is not a directory, and names it', async (t) => {
  const dir = await temporaryDirectory(t);
  await writeFile(join(dir, 'file'), '');
  await assert.rejects(createSetWriter(join(dir, 'file/root'), SET_NAME), (error) => {
    assert.ok(error instanceof IdkitError);
    assert.equal(error.code, 'IDKIT_DIRECTORY_NOT_WRITABLE');
    assert.match(error.message, /file\/root/);
    return true;
  });
});

test('reports a full disk as IDKIT_NO_SPACE at every write', async (t) => {
  const root = join(await temporaryDirectory(t), 'small');
  await mkdir(root);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', root]);
  if (mounted.status !== 0) {
    assert.notEqual(
      process.env['IDKIT_TEST_REQUIRE_ALL'],
      '1',
      'needs the right to mount a small file system',
    );
    t.skip('needs the right to mount a small file system');
    return;
  }
  try {
    const writer = await createSetWriter(root, SET_NAME);
    const file = await writer.createFile('big');
    await assert.rejects(async () => {
      for (let i = 0; i < 100; i++) await file.write(Buffer.alloc(10_000, 'x'));
      await file.close();
    }, fails('IDKIT_NO_SPACE'));
    await file.close().catch(() => undefined);
    await writer.abandon();
    assert.deepEqual(await readdir(root), []);
  } finally {
    spawnSync('umount', [root]);
  }
});

test('no set contains the unencrypted environment', async (t) => {
  const writer = await makeSet(await temporaryDirectory(t));
  for (const file of writer.files.keys())
    assert.equal((await readFile(join(writer.dir, file))).includes('hunter2'), false, file);
});
