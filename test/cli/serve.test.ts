import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory, run } from './run.ts';

test('serve refuses a platform whose `service: keycloak` says that its token service is another (contract §1)', async (t) => {
  const dir = join(makeDirectory(t), 'platform');
  assert.equal((await run(['init', '--dir', dir, '--service', 'keycloak'])).code, 0);
  const refused = await run(['serve', '--dir', dir, '--port', '0']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^error IDKIT_SETTING: .*idkit\.yaml says service: keycloak, /m);
  assert.match(refused.stderr, /^hint: start Keycloak by its own means/m);
  assert.match(refused.stderr, /^hint: or set service: idkit$/m);
  assert.ok(!existsSync(join(dir, 'data', 'idkit.db')), 'no database was made');
});

test('serve obeys `service: idkit` written out', async (t) => {
  const dir = join(makeDirectory(t), 'platform');
  await run(['init', '--dir', dir]);
  writeFileSync(join(dir, 'idkit.yaml'), 'service: idkit\n');
  const interrupt = new AbortController();
  const ended = run(['serve', '--dir', dir, '--port', '0', '--json'], { interrupt });
  const look = setInterval(() => {
    if (existsSync(join(dir, 'data', 'serve.lock.json'))) interrupt.abort();
  }, 50);
  t.after(() => clearInterval(look));
  assert.equal((await ended).code, 0);
});
