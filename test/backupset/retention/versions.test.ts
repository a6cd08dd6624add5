import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  addConfigVersion,
  addEnvironmentVersion,
  decryptEnvironment,
  encryptEnvironment,
  formatSetName,
} from '../../../src/backupset/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { tarGz } from '../archive/sample.ts';
import { PASSPHRASE, temporaryDirectory } from '../sample-set.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 1);
const stamp = (day: number) => formatSetName(START + day * DAY);
const hashOf = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
const config = (content: string) => tarGz([{ path: 'config/x', content }]);

test('adds a version after a change or after a week, and keeps the newest versions', async (t) => {
  const root = await temporaryDirectory(t);
  const file = join(root, 'source');
  const add = async (day: number, content: string) => {
    await writeFile(file, await config(content));
    return addConfigVersion(root, stamp(day), file, { keep: 2, sha256: await hashOf(file) });
  };
  assert.match((await add(0, 'one')).added ?? '', /config\/20261101_000000\.tar\.gz$/);
  assert.deepEqual(await add(1, 'one'), { removed: [] });
  assert.ok((await add(2, 'two')).added);
  assert.deepEqual(await add(8, 'two'), { removed: [] });
  const later = await add(9, 'two');
  assert.ok(later.added);
  assert.deepEqual(later.removed, [join(root, 'config', `${stamp(0)}.tar.gz`)]);
  assert.deepEqual(
    await readdir(join(root, 'config')),
    [2, 9].flatMap((day) => [`${stamp(day)}.tar.gz`, `${stamp(day)}.tar.gz.sha256`]),
  );
});

test('compares environments by their content, because each encryption is different', async (t) => {
  const root = await temporaryDirectory(t);
  const file = join(root, 'source');
  const add = async (day: number, content: string, passphrase = PASSPHRASE) => {
    await writeFile(file, await encryptEnvironment(Buffer.from(content), passphrase));
    return addEnvironmentVersion(root, stamp(day), file, { keep: 4, passphrase, sha256: await hashOf(file) });
  };
  assert.ok((await add(0, 'A=1')).added);
  assert.equal((await add(1, 'A=1')).added, undefined);
  const changed = await add(2, 'A=2');
  assert.equal((await decryptEnvironment(await readFile(changed.added!), PASSPHRASE)).outcome, 'opened');
  assert.ok(
    (await add(3, 'A=2', new Secret('a new passphrase'))).added,
    'another passphrase counts as a change',
  );
});

test('replaces a version whose checksum is wrong', async (t) => {
  const root = await temporaryDirectory(t);
  const file = join(root, 'source');
  await writeFile(file, await config('one'));
  const first = await addConfigVersion(root, stamp(0), file, { keep: 4, sha256: await hashOf(file) });
  await writeFile(`${first.added}.sha256`, 'rot');
  assert.ok((await addConfigVersion(root, stamp(1), file, { keep: 4, sha256: await hashOf(file) })).added);
});

test('keeps foreign files next to the versions', async (t) => {
  const root = await temporaryDirectory(t);
  await mkdir(join(root, 'config'));
  for (const name of ['notes.txt', 'old.tar.gz']) await writeFile(join(root, 'config', name), '');
  const file = join(root, 'source');
  await writeFile(file, await config('one'));
  await addConfigVersion(root, stamp(0), file, { keep: 1, sha256: await hashOf(file) });
  await addConfigVersion(root, stamp(20), file, { keep: 1, sha256: await hashOf(file) });
  assert.deepEqual(
    (await readdir(join(root, 'config'))).filter((name) => !name.startsWith('2026')),
    ['notes.txt', 'old.tar.gz'],
  );
});

test('adds no version if the set’s file was replaced in the meantime', async (t) => {
  const root = await temporaryDirectory(t);
  const file = join(root, 'source');
  await writeFile(file, await config('one'));
  const sha256 = await hashOf(file);
  await writeFile(file, await config('planted'));
  await assert.rejects(
    addConfigVersion(root, stamp(0), file, { keep: 4, sha256 }),
    /it has changed since it was written/,
  );
  await rm(file);
  await symlink('/etc/hostname', file);
  await assert.rejects(
    addConfigVersion(root, stamp(0), file, { keep: 4, sha256 }),
    /it has changed since it was written/,
  );
  assert.deepEqual(await readdir(join(root, 'config')), []);
});

test('neither writes nor deletes versions through a link', async (t) => {
  const root = await temporaryDirectory(t);
  const elsewhere = await temporaryDirectory(t);
  for (const day of [0, 1, 2]) await writeFile(join(elsewhere, `${stamp(day)}.tar.gz`), 'of somebody else');
  await symlink(elsewhere, join(root, 'config'));
  const file = join(root, 'source');
  await writeFile(file, await config('one'));
  await assert.rejects(addConfigVersion(root, stamp(9), file, { keep: 1, sha256: await hashOf(file) }), {
    code: 'IDKIT_DIRECTORY_NOT_WRITABLE',
  });
  assert.equal((await readdir(elsewhere)).length, 3);
});

test('a FIFO, a link or a decompression bomb among the versions counts as a change and does not block', async (t) => {
  const root = await temporaryDirectory(t);
  const file = join(root, 'source');
  await writeFile(file, await config('one'));
  const sha256 = await hashOf(file);
  const { added } = await addConfigVersion(root, stamp(0), file, { keep: 9, sha256 });
  await rm(`${added}.sha256`);
  execFileSync('mkfifo', [`${added}.sha256`]);
  const second = await addConfigVersion(root, stamp(1), file, { keep: 9, sha256 });
  assert.ok(second.added);
  await rm(`${second.added}.sha256`);
  await symlink('/dev/zero', `${second.added}.sha256`);
  assert.ok((await addConfigVersion(root, stamp(2), file, { keep: 9, sha256 })).added);
});
