import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PASSPHRASE } from '../procedures/platform.ts';
import { changedSinceBackup } from '../procedures/restored-state.ts';
import { putEnvironment } from '../procedures/tampered-set.ts';
import { run } from './run.ts';

const PASSPHRASE_GIVEN = { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE.reveal() };

test('restore --dry-run ends with the exit code that the restore would end with before anything is touched (contract §3)', async (t) => {
  const { platform, set } = await changedSinceBackup(t);
  const dryRun = (env = {}) =>
    run(['restore', '--dir', platform.dir, '--from', set.dir, '--dry-run', '--json'], {
      env: { ...PASSPHRASE_GIVEN, ...env },
    });
  assert.equal((await dryRun()).code, 0);
  const wrongKey = await dryRun({ IDKIT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') });
  assert.equal(wrongKey.code, 12);
  const { error } = wrongKey.result() as { error: { code: string; hints: string[] } };
  assert.equal(error.code, 'IDKIT_MASTER_KEY_WRONG');
  assert.equal(error.hints[0], 'nothing was touched');
  assert.match(error.hints[1]!, /process environment/);
  assert.match(wrongKey.stderr, /^error IDKIT_MASTER_KEY_WRONG: [\d_]+ cannot be restored here: /m);
  writeFileSync(join(platform.dir, 'idkit.yaml'), 'service: keycloak\n');
  assert.equal((await dryRun()).code, 14);
});

test('what env.gpg holds is judged by verify and by restore --dry-run alike: no environment file is 13', async (t) => {
  const { platform, set } = await changedSinceBackup(t);
  await putEnvironment(set, 'not an environment file\n');
  for (const argv of [
    ['verify', set.dir],
    ['restore', '--from', set.dir, '--dry-run'],
  ]) {
    const ended = await run([...argv, '--dir', platform.dir], { env: PASSPHRASE_GIVEN });
    assert.equal(ended.code, 13, ended.stderr);
    assert.match(ended.stderr, /^error IDKIT_DAMAGED: .*env\.gpg: it holds no environment file: /m);
  }
});
