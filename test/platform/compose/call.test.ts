import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callProgram } from '../../../src/platform/compose/call.ts';

test('a container engine does not receive the passphrase, which compose.yaml could pass to a container', async (t) => {
  const names = [
    'IDKIT_BACKUP_PASSPHRASE',
    'IDKIT_BACKUP_PASSPHRASE_FILE',
    'IDKIT_BACKUP_PASSPHRASE_COMMAND',
  ];
  for (const name of names) process.env[name] = 'Engine-Secret-1';
  t.after(() => {
    for (const name of names) delete process.env[name];
  });
  const { stdout } = await callProgram('env', [], { env: { MINE: 'yes' } });
  assert.match(stdout, /^PATH=/m);
  assert.match(stdout, /^MINE=yes$/m);
  assert.doesNotMatch(stdout, /Engine-Secret-1/);
});
