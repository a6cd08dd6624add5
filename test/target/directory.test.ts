import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTarget } from '../../src/target/index.ts';
import { checkContract } from './contract-rules.ts';
import { chunks, listAll, readAll, scratch } from './scratch.ts';

checkContract('a directory', async (t) => openTarget(join(scratch(t), 'copies')));

test('a directory: files and directories are readable by their owner alone', async (t) => {
  const dir = join(scratch(t), 'copies');
  const target = await openTarget(dir);
  await target.put('set/dump', chunks(Buffer.from('x')));
  assert.equal(statSync(join(dir, 'set')).mode & 0o777, 0o700);
  assert.equal(statSync(join(dir, 'set/dump')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(dir, 'set')), ['dump'], 'no draft is left');
});

test('a directory: links and FIFOs are neither listed nor followed', async (t) => {
  const dir = scratch(t);
  const outside = scratch(t);
  writeFileSync(join(outside, 'secret'), 'secret');
  symlinkSync(join(outside, 'secret'), join(dir, 'file'));
  symlinkSync(outside, join(dir, 'set'));
  execFileSync('mkfifo', [join(dir, 'fifo')]);
  const target = await openTarget(dir);
  assert.deepEqual(await listAll(target), []);
  await assert.rejects(readAll(target, 'file'), /not a regular file/);
  await assert.rejects(readAll(target, 'fifo'), /not a regular file/);
  await assert.rejects(readAll(target, 'set/secret'), /reached through a link/);
  await assert.rejects(target.put('set/new', chunks(Buffer.from('x'))), /reached through a link/);
  await assert.rejects(target.put('set/sub/new', chunks(Buffer.from('x'))), /reached through a link/);
  await assert.rejects(target.remove('set/secret'), /reached through a link/);
  assert.deepEqual(readdirSync(outside), ['secret']);
});

test('a directory: the rest of a killed put is not listed', async (t) => {
  const dir = scratch(t);
  mkdirSync(join(dir, 'set'));
  writeFileSync(join(dir, 'set/.idkit-0123456789abcdef.partial'), 'half');
  const target = await openTarget(dir);
  assert.deepEqual(await listAll(target), []);
});
