import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import {
  createFile,
  findEntry,
  makeTemporaryDirectory,
  replaceFile,
  syncDirectory,
  writing,
} from '../../src/files/index.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'idkit-files-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('replaces a file as a whole and removes its temporary file', () => {
  const file = join(dir, 'a');
  writeFileSync(file, 'the old content, which is longer', { mode: 0o644 });
  replaceFile(file, 'new');
  assert.equal(readFileSync(file, 'utf8'), 'new');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dir), ['a']);
});

test('replaces a link, but not the file that it points to', () => {
  writeFileSync(join(dir, 'target'), 'old');
  symlinkSync('target', join(dir, 'link'));
  replaceFile(join(dir, 'link'), 'new');
  assert.equal(readFileSync(join(dir, 'target'), 'utf8'), 'old');
  assert.equal(readFileSync(join(dir, 'link'), 'utf8'), 'new');
});

test('creates a file with the given mode, and does not change an existing file', () => {
  const file = join(dir, 'a');
  assert.equal(createFile(file, 'first', 0o640), 'created');
  assert.equal(createFile(file, 'second', 0o600), 'kept');
  assert.equal(readFileSync(file, 'utf8'), 'first');
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(dir), ['a']);
});

test('reports a directory at the path of the file as IDKIT_DIRECTORY_NOT_WRITABLE and names the path', () => {
  const file = join(dir, 'a');
  mkdirSync(file);
  assert.throws(() => replaceFile(file, 'x'), {
    code: 'IDKIT_DIRECTORY_NOT_WRITABLE',
    message: /\/a cannot be/,
  });
  assert.deepEqual(readdirSync(dir), ['a'], 'no draft is left');
});

test('reports a parent directory that is a file as IDKIT_DIRECTORY_NOT_WRITABLE', () => {
  writeFileSync(join(dir, 'a'), '');
  assert.throws(() => createFile(join(dir, 'a', 'b'), 'x'), { code: 'IDKIT_DIRECTORY_NOT_WRITABLE' });
  assert.throws(() => replaceFile(join(dir, 'none', 'b'), 'x'), { code: 'IDKIT_DIRECTORY_NOT_WRITABLE' });
});

test('reports a full disk as IDKIT_NO_SPACE', async () => {
  await assert.rejects(
    writing('/dev/full', () => writeFileSync('/dev/full', 'x')),
    { code: 'IDKIT_NO_SPACE', message: 'no space left on the disk to write /dev/full' },
  );
});

test('rethrows an abort or a programming error unchanged', async () => {
  const abort = AbortSignal.abort().reason;
  await assert.rejects(
    writing('x', () => Promise.reject(abort)),
    (error) => error === abort,
  );
  await assert.rejects(
    writing('x', () => readFileSync('a\0b')),
    { code: 'ERR_INVALID_ARG_VALUE' },
  );
});

test('finds the entry at a path without following a link, and returns undefined for a path below a file', () => {
  symlinkSync('nowhere', join(dir, 'link'));
  writeFileSync(join(dir, 'file'), '');
  assert.equal(findEntry(join(dir, 'link'))?.isSymbolicLink(), true);
  assert.equal(findEntry(join(dir, 'none')), undefined);
  assert.equal(findEntry(join(dir, 'file', 'below')), undefined);
  syncDirectory(dir);
});

test('a temporary directory removes those of killed processes, but not those of running ones, nor links', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const prefix = `idkit-test-${process.pid}-`;
  const path = (name: string) => join(tmpdir(), `${prefix}${name}`);
  mkdirSync(path(`${pid}-killed`));
  writeFileSync(join(path(`${pid}-killed`), 'digests'), 'x');
  symlinkSync(dir, path(`${pid}-link`));
  mkdirSync(path(`${process.ppid}-running`));
  const made = await makeTemporaryDirectory(prefix);
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
  for (const name of left) rmSync(join(tmpdir(), name), { recursive: true });
  assert.equal(statSync(dir).isDirectory(), true);
  assert.ok(made.startsWith(path(`${process.pid}-`)));
  assert.deepEqual(
    left.toSorted(),
    [path(`${pid}-link`), path(`${process.ppid}-running`), made].map((one) => basename(one)).toSorted(),
  );
});
