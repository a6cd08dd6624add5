import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { acquireLock } from '../../../src/config/index.ts';
import { openPlatform, type Platform } from '../../../src/platform/open.ts';
import { freePort } from '../../free-port.ts';
import { makePlatform } from '../../http/service.ts';

/**
 * Creates a platform whose lock file names the address of `server` as the address of the service. If `server` is
 * undefined, nothing listens at the address.
 */
async function servedBy(t: TestContext, server: Server | undefined): Promise<Platform> {
  if (server !== undefined) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
  }
  const port = server === undefined ? await freePort() : (server.address() as AddressInfo).port;
  const platform = makePlatform();
  const lock = await acquireLock(join(platform.dir, 'data', 'serve.lock'), {
    mode: 'exclusive',
    record: { command: 'serve', baseUrl: `http://127.0.0.1:${port}` },
  });
  t.after(async () => {
    await lock.release();
    platform.remove();
  });
  return openPlatform(await platform.settings());
}

const unreachable = (message: RegExp) => ({ code: 'IDKIT_UNREACHABLE', message });

test('keeps waiting if the connection is refused, and fails with IDKIT_UNREACHABLE after timeoutSeconds', async (t) => {
  const opened = await servedBy(t, undefined);
  await assert.rejects(opened.service.waitUntilReady(0.3), unreachable(/was not ready within 0\.3 s$/));
});

test('keeps waiting if the service does not respond, and fails after timeoutSeconds', async (t) => {
  const sockets: Socket[] = [];
  const opened = await servedBy(
    t,
    createServer((socket) => sockets.push(socket)),
  );
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await assert.rejects(opened.service.waitUntilReady(0.3), unreachable(/was not ready within 0\.3 s$/));
});

test('keeps waiting after broken connections and 503 responses until the service is ready', async (t) => {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(request.url!);
    if (asked.length === 1) request.socket.destroy();
    else if (asked.length === 2) request.socket.resetAndDestroy();
    else response.writeHead(asked.length === 3 ? 503 : 200, { connection: 'close' }).end('{}');
  });
  await (await servedBy(t, server)).service.waitUntilReady(30);
  assert.deepEqual(asked, Array(4).fill('/health/ready'));
});

test('immediately reports an error that waiting cannot fix', async (t) => {
  let asked = 0;
  const server = createServer((socket) => {
    asked++;
    socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.9\r\n');
  });
  const opened = await servedBy(t, server);
  await assert.rejects(opened.service.waitUntilReady(30), unreachable(/cannot be checked: .+/));
  assert.equal(asked, 1);
});
