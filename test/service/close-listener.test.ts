import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readAcceptQueue } from '../../src/service/listener/accept-queue.ts';
import { closeListener } from '../../src/service/listener/close-listener.ts';
import { waitUntil } from '../wait-until.ts';
import type { Clients } from './impatient-clients.ts';

const skip = process.platform === 'linux' ? false : 'only Linux shows the queue of a listener';

/** Starts a server whose thread is busy, and clients in another process that keep its queue full. */
async function startBusy(
  t: TestContext,
  host: string,
): Promise<{ server: Server; clients: Promise<Clients> }> {
  const server = createServer((request, answer) => {
    // Blocks the thread, so that it accepts no connections.
    const until = performance.now() + 1;
    while (performance.now() < until);
    request.resume().on('end', () => answer.setHeader('connection', 'close').end('done'));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const child = fork(new URL('./impatient-clients.ts', import.meta.url), [host, String(port)]);
  t.after(() => child.kill());
  const clients = once(child, 'message').then(([counts]) => counts as Clients);
  let answered = 0;
  server.on('request', () => {
    answered++;
  });
  await waitUntil('the clients receive responses', () => answered > 200);
  return { server, clients };
}

for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::'])
  test(`closing a listener on ${host} under load resets no accepted connection`, { skip }, async (t) => {
    const { server, clients } = await startBusy(t, host);
    const { ended } = await closeListener(server);
    assert.equal(server.listening, false);
    await ended;
    const { answered, refused, broken } = await clients;
    assert.equal(broken, 0, `of ${answered} that were answered`);
    assert.ok(answered > 200 && refused > 0, `${answered} answered, ${refused} refused`);
  });

test('closing a listener keeps its open connections', { skip }, async (t) => {
  const server = createServer((_request, answer) => answer.end('done'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
  socket.write(request);
  await once(socket, 'data');
  await closeListener(server);
  socket.write(request);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 200 /);
});

test('reads a listener’s queue from the kernel, for IPv4 and IPv6', { skip }, async (t) => {
  for (const host of ['127.0.0.1', '::1', '::']) {
    const server = createNetServer(() => {});
    server.listen(0, host);
    await once(server, 'listening');
    t.after(() => server.close());
    const place = server.address() as AddressInfo;
    assert.deepEqual(readAcceptQueue(place), { waiting: 0, arriving: 0 }, host);
    assert.equal(readAcceptQueue({ ...place, port: 1 }), undefined);
  }
});
