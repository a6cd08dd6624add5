import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { cutStoppedReaders, newApp } from '../../../src/http/app/new-app.ts';

const CHUNK = 'x'.repeat(64 * 1024);
/** Number of chunks of the large response, which is far larger than the buffers of a connection. */
const LARGE_CHUNKS = 1_000;

async function serve(t: TestContext, milliseconds: number) {
  const app = newApp({ trustedProxies: [] });
  cutStoppedReaders(app, milliseconds);
  const ended = Promise.withResolvers<void>();
  const chunks = function* () {
    try {
      for (;;) yield CHUNK;
    } finally {
      ended.resolve();
    }
  };
  app.get('/endless', (_request, reply) => reply.send(Readable.from(chunks(), { objectMode: false })));
  app.get('/large', (_request, reply) => reply.send(CHUNK.repeat(LARGE_CHUNKS)));
  app.get('/small', (_request, reply) => reply.send('small'));
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const { port } = app.server.address() as { port: number };
  const closed = new Promise<void>((resolve) =>
    app.server.once('connection', (socket) => socket.once('close', () => resolve())),
  );
  return { port, ended: ended.promise, closed };
}

/** Sends a request and reads nothing of the response. */
function stopReading(port: number, path: string) {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

test('closes the connection of a caller that reads nothing of a streamed response, and ends the stream', async (t) => {
  const { port, ended } = await serve(t, 100);
  const socket = stopReading(port, '/endless');
  await ended;
  socket.destroy();
});

test('closes the connection of a caller that reads nothing of a large response', async (t) => {
  const { port, closed } = await serve(t, 100);
  const socket = stopReading(port, '/large');
  await closed;
  const left = new Promise((resolve) => socket.once('close', resolve));
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  await left;
  assert.ok(bytes < CHUNK.length * LARGE_CHUNKS, 'the service has discarded the rest');
});

test('a caller that reads slowly gets the whole response, and the connection stays usable', async (t) => {
  const { port } = await serve(t, 1_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const started = performance.now();
  let bytes = 0;
  let burst = 0;
  const large = request({ agent, port, path: '/large' }).end();
  const [answer] = (await once(large, 'response')) as [IncomingMessage];
  // The kernel buffers several megabytes, so the service notices only larger steps of the caller.
  for await (const chunk of answer) {
    bytes += chunk.length;
    burst += chunk.length;
    if (burst < 6_000_000) continue;
    burst = 0;
    await setTimeout(150);
  }
  assert.equal(bytes, CHUNK.length * LARGE_CHUNKS);
  assert.ok(performance.now() - started > 1_000, 'the response takes longer than the timeout');

  await setTimeout(1_200);
  const small = request({ agent, port, path: '/small' }).end();
  const [next] = (await once(small, 'response')) as [IncomingMessage];
  assert.equal(small.reusedSocket, true);
  assert.equal(await text(next), 'small');
});
