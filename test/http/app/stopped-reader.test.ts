import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { cutStoppedReaders, newApp } from '../../../src/http/app/new-app.ts';

const CHUNK = 'x'.repeat(64 * 1024);

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
  app.get('/large', (_request, reply) => reply.send(CHUNK.repeat(400)));
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
  assert.ok(bytes < CHUNK.length * 400, 'the service has discarded the rest');
});

test('a caller that reads slowly gets the whole response, and the connection stays usable', async (t) => {
  const { port } = await serve(t, 300);
  const answer = await fetch(`http://127.0.0.1:${port}/large`);
  let bytes = 0;
  let pauses = 0;
  for await (const chunk of answer.body!) {
    bytes += chunk.length;
    if (pauses++ < 8) await new Promise((resolve) => setTimeout(resolve, 60));
  }
  assert.equal(bytes, CHUNK.length * 400);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/small`)).text(), 'small');
});
