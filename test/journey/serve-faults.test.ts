import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { writeEnvironmentValue } from '../../src/config/index.ts';
import { makePlace, runIdkit, startIdkit } from './idkit.ts';

// Faults that prevent `serve` from starting. Each has its own error and exit code, and `serve` changes nothing.

/** Returns a platform whose service has run once. */
async function makeServed(t: TestContext): Promise<{ cwd: string; env: string; database: string }> {
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  assert.equal(await service.stop('SIGINT'), 0, '"SIGTERM and SIGINT end it gracefully"');
  return { cwd, env: join(cwd, 'idkit', '.env'), database: join(cwd, 'idkit', 'data', 'idkit.db') };
}

test('serve reports each fault with its own exit code, and changes nothing', async (t) => {
  const place = await makeServed(t);
  const env = readFileSync(place.env, 'utf8');
  const database = readFileSync(place.database);
  const refuse = async (code: number, error: string, message: RegExp, argv: string[] = []) => {
    const ended = await runIdkit(['serve', '--port', '0', ...argv], { cwd: place.cwd });
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, new RegExp(`^error ${error}: `, 'm'));
    assert.match(ended.stderr, message);
  };
  const restore = () => writeFileSync(place.env, env, { mode: 0o600 });

  await t.test('an .env that other users can read', async () => {
    chmodSync(place.env, 0o644);
    await refuse(2, 'IDKIT_ENV_READABLE', /hint: chmod 600/);
    chmodSync(place.env, 0o600);
  });

  await t.test(
    'a master key that is missing, has the wrong length, or belongs to another database',
    async () => {
      writeEnvironmentValue(place.env, 'IDKIT_MASTER_KEY', null);
      await refuse(2, 'IDKIT_MASTER_KEY_MISSING', /IDKIT_MASTER_KEY is not set/);
      writeEnvironmentValue(place.env, 'IDKIT_MASTER_KEY', 'c2hvcnQ=');
      await refuse(2, 'IDKIT_MASTER_KEY_INVALID', /IDKIT_MASTER_KEY has 5 bytes, but a master key has 32/);
      writeEnvironmentValue(place.env, 'IDKIT_MASTER_KEY', Buffer.alloc(32, 7).toString('base64'));
      await refuse(12, 'IDKIT_MASTER_KEY_WRONG', /does not decrypt/);
      restore();
    },
  );

  await t.test('a port that is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ended = await runIdkit(['serve', '--port', String(port)], { cwd: place.cwd });
    server.close();
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(ended.stderr, new RegExp(`^error IDKIT_PORT_TAKEN: .*${port}`, 'm'));
  });

  await t.test('a certificate that is missing or has no key', async () => {
    await refuse(2, 'IDKIT_SETTING', /must be set together/, ['--tls-cert', 'cert.pem']);
    await refuse(2, 'IDKIT_SETTING', /cert\.pem/, ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem']);
  });

  await t.test('none of these faults changed the platform', () => {
    assert.equal(readFileSync(place.env, 'utf8'), env);
    assert.ok(readFileSync(place.database).equals(database));
  });

  await t.test('a database of a newer idkit, and a damaged one', async () => {
    const opened = new DatabaseSync(place.database);
    const { user_version: version } = opened.prepare('PRAGMA user_version').get() as { user_version: number };
    opened.exec(`PRAGMA user_version = ${version + 1000}`);
    opened.close();
    await refuse(14, 'IDKIT_VERSION', /newer/);
    writeFileSync(place.database, Buffer.alloc(database.length, 'no database at all '));
    await refuse(13, 'IDKIT_DATABASE_DAMAGED', /idkit\.db/);
  });
});
