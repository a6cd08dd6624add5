import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Loopback, openLoopback } from '../../../src/client/person/loopback.ts';

async function open(t: TestContext): Promise<Loopback> {
  const loopback = await openLoopback(0);
  t.after(() => loopback.close());
  return loopback;
}

test('listens on 127.0.0.1 only', async (t) => {
  const { hostname, pathname } = new URL((await open(t)).redirectUri);
  assert.deepEqual([hostname, pathname], ['127.0.0.1', '/callback']);
});

test('a window that is closed before the result does not hold up the login', async (t) => {
  const loopback = await open(t);
  const { port } = new URL(loopback.redirectUri);
  const arrives = loopback.redirect('s');
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /callback?state=s&code=c HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  const redirect = await arrives;
  socket.resetAndDestroy();
  await once(socket, 'close');
  // Only once the listener has noticed it, the response gets no further event.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await redirect.respond({ title: 'You are logged in', text: 'Close this window.' });
});

test('escapes the texts of the page, because a service chooses some of them', async (t) => {
  const loopback = await open(t);
  const arrives = loopback.redirect('s');
  const shown = fetch(`${loopback.redirectUri}?state=s`);
  await (await arrives).respond({ title: '<b>', text: `<script>'"&` });
  const page = await (await shown).text();
  assert.match(page, /<h1>&#60;b&#62;<\/h1>\n<p>&#60;script&#62;&#39;&#34;&#38;<\/p>/);
});

test('waits for one redirect, and accepts none with another state', async (t) => {
  const loopback = await open(t);
  const arrives = loopback.redirect('s');
  for (const query of ['', '?state=', '?state=S', '?state=s%20'])
    assert.equal((await fetch(loopback.redirectUri + query)).status, 400, query);
  assert.equal((await fetch(`${loopback.redirectUri}?state=s`, { method: 'POST' })).status, 404);
  const first = fetch(`${loopback.redirectUri}?state=s`);
  await (await arrives).respond({ title: 't', text: 't' });
  assert.equal((await first).status, 200);
  assert.equal((await fetch(`${loopback.redirectUri}?state=s`)).status, 400);
});
