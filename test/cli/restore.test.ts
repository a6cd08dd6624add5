import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PASSPHRASE } from '../procedures/platform.ts';
import { changedSinceBackup, NEW, readState } from '../procedures/restored-state.ts';
import { makeDirectory, run } from './run.ts';

test('restore --dry-run changes nothing, and restore asks for confirmation unless --yes is given', async (t) => {
  const { platform, set } = await changedSinceBackup(t);
  const cwd = makeDirectory(t);
  const env = { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE.reveal() };
  const restore = (argv: readonly string[], more: Parameters<typeof run>[1] = {}) =>
    run(['restore', '--from', set.dir, ...argv], { cwd, env, ...more });

  const dry = await restore(['--dry-run']);
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /^realms +master \(1 user\)$/m);
  assert.match(dry.stdout, /^ 1\. Verify the backup set\n( ?\d+\. .*\n)+nothing was changed\n$/m);

  const asked = await restore([], { terminal: true, stdin: 'n\n' });
  assert.equal(asked.code, 2, asked.stderr);
  assert.match(asked.stderr, /Replace .*\/idkit with this set\? \[y\/N\] /);
  assert.deepEqual(readdirSync(cwd), [], 'neither made the platform directory');

  const done = await restore(['--yes']);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /^CHECK +OUTCOME +DETAIL\n(.*\n){8}restored .* in [\d.]+ s\n$/);
  assert.deepEqual(await readState(join(cwd, 'idkit')), NEW, '"serve, init and restore make it"');

  const without = { cwd: platform.dir, env: {} };
  const refused = await restore(['--yes'], without);
  assert.equal(refused.code, 2, '"Without a passphrase 2"');
  assert.equal(refused.stderr.match(/^hint: /gm)?.length, 4, 'the three ways to give one, and --keep-env');
  const unchecked = await restore(['--yes', '--keep-env', '--keep-config'], without);
  assert.equal(unchecked.code, 2, 'without a passphrase the seal is not checked');
  assert.match(unchecked.stderr, /^error IDKIT_UNSEALED: .*its seal was not checked/m);
  const keep = ['--yes', '--keep-env', '--keep-config', '--trust-unsealed'];
  const kept = await restore(keep, without);
  assert.equal(kept.code, 0, `"unless --keep-env": ${kept.stderr}`);
  assert.deepEqual(await readState(platform.dir), { database: 'new', env: 'old', config: 'old' });
});

test('backups, drill and status exit with 2 if the platform directory is missing or is not a directory', async (t) => {
  const cwd = makeDirectory(t);
  for (const argv of [
    ['backups', 'list', '--root', cwd],
    ['backups', 'prune', '--root', cwd, '--yes'],
    ['drill', cwd],
  ]) {
    assert.equal((await run(argv, { cwd })).code, 2, argv.join(' '));
  }
  mkdirSync(join(cwd, 'place'));
  assert.equal((await run(['init', '--dir', 'place'], { cwd })).code, 0);
  const schedule = await run(['schedule', '--format', 'systemd', '--dir', 'place'], { cwd });
  assert.match(schedule.stdout, /^OnCalendar=/m);
  assert.equal((await run(['status', '--dir', 'place/idkit.yaml'], { cwd })).code, 2);
  assert.ok(existsSync(join(cwd, 'place/idkit.yaml')));
});
