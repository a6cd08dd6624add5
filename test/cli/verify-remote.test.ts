import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasProgram } from '../interop/system-program.ts';
import { scratch } from '../target/scratch.ts';
import { run } from './run.ts';

test('verify --root TARGET without a set is a finding (3), and a set that is named but missing is not found (10)', async (t) => {
  if (!hasProgram(t, 'rclone')) return;
  const dir = scratch(t);
  process.env['RCLONE_CONFIG_COPIES_TYPE'] = 'local';
  t.after(() => delete process.env['RCLONE_CONFIG_COPIES_TYPE']);
  mkdirSync(join(dir, 'empty'));
  const root = `rclone:copies:${join(dir, 'empty')}`;
  for (const more of [[], ['--all']]) {
    const ran = await run(['verify', '--root', root, ...more, '--json'], { cwd: dir });
    assert.equal(ran.code, 3, ran.stderr);
    assert.match(JSON.stringify(ran.result()['findings']), /BACKUP_MISSING/);
  }
  const named = await run(['verify', `${root}/20261122_101112`, '--json'], { cwd: dir });
  assert.equal(named.code, 10, named.stderr);
});
