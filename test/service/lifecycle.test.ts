import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeEnvironmentValue } from '../../src/config/index.ts';
import { openPlatform } from '../../src/platform/open.ts';
import { form, login, makePlatform, SECRETS, startTestService, tokenUrl } from '../http/service.ts';

test('a second start keeps the keys and the administrator, and does not report a first start', async () => {
  const platform = makePlatform();
  const certs = async (address: string) =>
    (await fetch(`${address}/realms/master/protocol/openid-connect/certs`)).text();
  try {
    const first = await startTestService({ platform });
    assert.equal(first.firstStart, true);
    const keys = await certs(first.address);
    await first.stop();
    const second = await startTestService({ platform });
    assert.equal(second.firstStart, false);
    assert.equal(await certs(second.address), keys);
    await login(second);
    await second.stop();
  } finally {
    platform.remove();
  }
});

test('IDKIT_ADMIN_USERNAME and IDKIT_ADMIN_PASSWORD create the first administrator and never reset an existing one', async () => {
  const platform = makePlatform();
  try {
    await (await startTestService({ platform })).stop();
    writeEnvironmentValue(join(platform.dir, '.env'), 'IDKIT_ADMIN_PASSWORD', 'Another-Password-2');
    const second = await startTestService({ platform });
    await login(second);
    await second.stop();
    writeEnvironmentValue(join(platform.dir, '.env'), 'IDKIT_ADMIN_USERNAME', 'other');
    const third = await startTestService({ platform });
    await login(third);
    const answer = await fetch(
      tokenUrl(third),
      form({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'other',
        password: 'Another-Password-2',
      }),
    );
    const { error } = (await answer.json()) as { error: string };
    await third.stop();
    assert.equal(error, 'invalid_grant', 'it creates no second administrator');
  } finally {
    platform.remove();
  }
});

test('close() waits for a running request to finish, and frees the port', async () => {
  const service = await startTestService();
  const url = new URL(service.address);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'idkit-smoke',
    client_secret: SECRETS.IDKIT_SMOKE_CLIENT_SECRET,
  }).toString();
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    `POST ${new URL(tokenUrl(service)).pathname} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const [begun] = await once(socket, 'data');
  assert.match(String(begun), /^HTTP\/1\.1 100 /, 'the request runs');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const ended = once(socket, 'end');
  const closed = service.close();
  await sleep(200);
  socket.write(body);
  await ended;
  assert.match(text, /^HTTP\/1\.1 200 OK/);
  await closed;
  await service.stop();
  await assert.rejects(fetch(`${service.address}/health`));
});

test('close() aborts a request that has not finished when the grace period ends', async () => {
  const service = await startTestService({ serve: { graceSeconds: 0.3 } });
  const url = new URL(service.address);
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    'POST /realms/master/protocol/openid-connect/token HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
  );
  await once(socket, 'data');
  socket.on('error', () => {});
  const began = performance.now();
  await service.stop();
  assert.ok(performance.now() - began < 9_000, 'earlier than the default grace period of 10 s');
});

test('close() checkpoints the database, and leaves neither a write-ahead log nor a record of a running service', async () => {
  const platform = makePlatform();
  try {
    const service = await startTestService({ platform });
    const data = join(platform.dir, 'data');
    assert.ok(existsSync(join(data, 'serve.lock.json')));
    await service.stop();
    assert.ok(!existsSync(join(data, 'idkit.db-wal')));
    assert.ok(!existsSync(join(data, 'serve.lock.json')));
  } finally {
    platform.remove();
  }
});

test('rejects a second `serve` on the same database with IDKIT_LOCKED, and names the running process', async () => {
  const platform = makePlatform();
  const first = await startTestService({ platform });
  try {
    await assert.rejects(
      startTestService({ platform }),
      (error: Error & { code: string; exitCode: number }) => {
        assert.equal(error.code, 'IDKIT_LOCKED');
        assert.equal(error.exitCode, 11);
        assert.match(error.message, new RegExp(`\\b${process.pid}\\b`));
        return true;
      },
    );
    await login(first);
  } finally {
    await first.stop();
    platform.remove();
  }
});

test('reports a port in use as IDKIT_PORT_TAKEN, and changes nothing', async () => {
  const platform = makePlatform();
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const port = (other.address() as { port: number }).port;
  try {
    await assert.rejects(
      startTestService({ platform, flags: { 'listen.port': String(port) } }),
      (error: Error) => {
        assert.equal((error as Error & { code: string }).code, 'IDKIT_PORT_TAKEN');
        assert.match(error.message, new RegExp(String(port)));
        return true;
      },
    );
    assert.ok(!existsSync(join(platform.dir, 'data', 'idkit.db')), 'no database was created');
  } finally {
    other.close();
    platform.remove();
  }
});

test('reports different error codes for a master key that is missing, too short, or from another database', async () => {
  const platform = makePlatform();
  const env = join(platform.dir, '.env');
  const good = readFileSync(env, 'utf8');
  const withKey = (key: string) =>
    writeFileSync(env, good.replace(/^IDKIT_MASTER_KEY=.*$/m, key), { mode: 0o600 });
  try {
    await (await startTestService({ platform })).stop();
    const before = readFileSync(join(platform.dir, 'data', 'idkit.db'));
    withKey('');
    await assert.rejects(startTestService({ platform }), { code: 'IDKIT_MASTER_KEY_MISSING' });
    withKey('IDKIT_MASTER_KEY=c2hvcnQ=');
    await assert.rejects(startTestService({ platform }), { code: 'IDKIT_MASTER_KEY_INVALID' });
    withKey(`IDKIT_MASTER_KEY=${Buffer.alloc(32, 9).toString('base64')}`);
    await assert.rejects(startTestService({ platform }), { code: 'IDKIT_MASTER_KEY_WRONG' });
    assert.deepEqual(
      readFileSync(join(platform.dir, 'data', 'idkit.db')),
      before,
      'the database is unchanged',
    );
    withKey(`IDKIT_MASTER_KEY=${SECRETS.IDKIT_MASTER_KEY}`);
    await (await startTestService({ platform })).stop();
  } finally {
    platform.remove();
  }
});

test('reports a damaged database as IDKIT_DATABASE_DAMAGED', async () => {
  const platform = makePlatform();
  try {
    writeFileSync(
      join(platform.dir, 'data', 'idkit.db'),
      'this is no SQLite database, whatever its name says. '.repeat(100),
    );
    await assert.rejects(startTestService({ platform }), { code: 'IDKIT_DATABASE_DAMAGED' });
  } finally {
    platform.remove();
  }
});

test('finds the running service through the lock file, but only while the lock is held', async () => {
  const platform = makePlatform();
  try {
    const settings = await platform.settings({ 'listen.port': '18080' });
    const opened = await openPlatform(settings);
    assert.equal(await opened.service.baseUrl(), undefined, 'nothing runs');
    const service = await startTestService({ platform });
    assert.equal(await opened.service.baseUrl(), service.address);
    await service.stop();
    writeFileSync(
      join(platform.dir, 'data', 'serve.lock.json'),
      JSON.stringify({
        address: 'http://127.0.0.1:1',
        managementAddress: 'http://127.0.0.1:1',
        pid: 1,
        started: 'x',
      }),
    );
    assert.equal(
      await opened.service.baseUrl(),
      undefined,
      'a record without a held lock is not a running service',
    );
  } finally {
    platform.remove();
  }
});
