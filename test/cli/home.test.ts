import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BIN } from '../journey/idkit.ts';
import { makeDirectory } from './run.ts';

test('does not create a missing home directory for the compile cache', (t) => {
  const home = join(makeDirectory(t), 'nobody');
  const ran = spawnSync(process.execPath, [BIN, '--version'], { env: { HOME: home }, encoding: 'utf8' });
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
  assert.ok(!existsSync(home));
});

test('starts under a user id without an account, even without HOME', (t) => {
  if (process.getuid?.() !== 0) {
    if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error('needs root to become another user');
    t.skip('needs root to become another user');
    return;
  }
  const ran = spawnSync(process.execPath, [BIN, '--version'], {
    env: {},
    uid: 54_321,
    gid: 54_321,
    encoding: 'utf8',
  });
  if (ran.error !== undefined || /EACCES/.test(ran.stderr)) {
    t.skip('needs a checkout that every user can read');
    return;
  }
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
});
