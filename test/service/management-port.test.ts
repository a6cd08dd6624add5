import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import { loadSettings, type SettingFlags, type Settings } from '../../src/config/index.ts';
import { openPlatform } from '../../src/platform/open.ts';
import { startService } from '../../src/service/index.ts';
import { freePort } from '../free-port.ts';
import { makePlatform, type TestPlatform } from '../http/service.ts';
import { makePlace, runIdkit, startIdkit } from '../journey/idkit.ts';

/** Returns the settings of a new platform with these flags. */
async function settingsOf(t: TestContext, flags: SettingFlags = {}): Promise<Settings> {
  const platform: TestPlatform = makePlatform();
  t.after(() => platform.remove());
  return loadSettings({ dir: platform.dir, env: {}, flags: { 'listen.port': '0', ...flags } });
}

/** Occupies a port, which has the same effect as a listener of another program. */
async function occupy(t: TestContext, port: number): Promise<number> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once('listening', () => resolve(true));
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1');
  });
  if (!listens) return port;
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('the management listener uses loopback port 9000, but if the port is in use, serve runs without the listener and prints a note', async (t) => {
  await occupy(t, 9000);
  const settings = await settingsOf(t);
  const service = await startService(settings);
  t.after(() => service.close());
  assert.equal(service.managementUrl, undefined);
  assert.deepEqual(service.notes, [
    'another program is already listening on 127.0.0.1:9000, so this service has no metrics or detailed health; choose another port with --management-port',
  ]);
  assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
  assert.equal((await fetch(`${service.address}/metrics`)).status, 404);
  assert.equal(await (await openPlatform(settings)).service.managementUrl(), undefined);
});

test('if port 9000 is in use, serve prints a note to stderr and starts anyway', async (t) => {
  await occupy(t, 9000);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd, managementPort: 'default' });
  await service.printed(
    /^note: another program is already listening on 127\.0\.0\.1:9000, so this service has no metrics/m,
  );
  assert.equal((await fetch(`${service.address}/health`)).status, 200);
  assert.equal(service.managementUrl, undefined);
});

test('reports a management port in use as IDKIT_PORT_TAKEN if a flag or idkit.yaml sets the port', async (t) => {
  const port = await occupy(t, 0);
  await assert.rejects(startService(await settingsOf(t, { 'listen.managementPort': String(port) })), {
    code: 'IDKIT_PORT_TAKEN',
    message: `another program is already listening on 127.0.0.1:${port}`,
    hints: ['choose another port with --management-port, or stop that program'],
  });
  const ended = await runIdkit(['serve', '--port', '0', '--management-port', String(port)], {
    cwd: makePlace(t),
  });
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(ended.stderr, /^error IDKIT_PORT_TAKEN: /m);
  assert.match(ended.stderr, /^hint: choose another port with --management-port/m);
});

test('rejects an explicit port 9000 if it is in use', async (t) => {
  await occupy(t, 9000);
  const settings = await settingsOf(t, { 'listen.managementPort': '9000' });
  await assert.rejects(startService(settings), { code: 'IDKIT_PORT_TAKEN' });
});

test('rejects the same port for both listeners as IDKIT_SETTING', async (t) => {
  const port = String(await freePort());
  await assert.rejects(settingsOf(t, { 'listen.port': port, 'listen.managementPort': port }), {
    code: 'IDKIT_SETTING',
    message: `listen.port and listen.managementPort are both ${port}`,
  });
});

test('--management-port off disables the management listener without a note', async (t) => {
  const service = await startService(await settingsOf(t, { 'listen.managementPort': 'off' }));
  t.after(() => service.close());
  assert.equal(service.managementUrl, undefined);
  assert.deepEqual(service.notes, []);
});

test('the management listener is only on loopback, unless listen.managementHost is set', async (t) => {
  const outer = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  const reach = (host: string, port: string) => fetch(`http://${host}:${port}/metrics`);
  const closed = await startService(
    await settingsOf(t, { 'listen.host': '0.0.0.0', 'listen.managementPort': '0' }),
  );
  t.after(() => closed.close());
  const open = await startService(
    await settingsOf(t, { 'listen.managementPort': '0', 'listen.managementHost': '0.0.0.0' }),
  );
  t.after(() => open.close());
  assert.equal((await reach('127.0.0.1', new URL(closed.managementUrl!).port)).status, 200);
  assert.equal((await reach('127.0.0.1', new URL(open.managementUrl!).port)).status, 200);
  // On Linux, every address of 127.0.0.0/8 belongs to this machine.
  const other = outer ?? '127.0.0.2';
  await assert.rejects(reach(other, new URL(closed.managementUrl!).port));
  assert.equal((await reach(other, new URL(open.managementUrl!).port)).status, 200);
  const nowhere = await settingsOf(t, { 'listen.managementPort': '0', 'listen.managementHost': '192.0.2.1' });
  await assert.rejects(startService(nowhere), {
    code: 'IDKIT_SETTING',
    message: 'listen.managementHost is 192.0.2.1, which is not an address of this machine',
  });
});

test('the lock file records the address of the management listener', async (t) => {
  const settings = await settingsOf(t, { 'listen.managementPort': '0' });
  const service = await startService(settings);
  t.after(() => service.close());
  assert.equal(await (await openPlatform(settings)).service.managementUrl(), service.managementUrl);
});
