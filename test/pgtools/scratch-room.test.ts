import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchRoom } from '../../src/pgtools/index.ts';
import { makeDirectory } from '../procedures/platform.ts';

test('the room for a recovered cluster is that of the disk on which it will be', async (t) => {
  const dir = await makeDirectory(t, 'room');
  const near = await scratchRoom(dir);
  assert.equal(near.disk, dir);
  assert.ok(near.free > 0);
  assert.deepEqual(await readdir(dir), [], 'nothing is left behind');
  // The path of a socket has at most 107 bytes.
  const long = join(dir, 'a-long-name-'.repeat(9));
  await mkdir(long);
  assert.equal((await scratchRoom(long)).disk, '/tmp');
});
