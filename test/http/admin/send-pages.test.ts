import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import fastify from 'fastify';
import { Pages } from '../../../src/admin/index.ts';
import { sendPages } from '../../../src/http/admin/send-pages.ts';
import { waitUntil } from '../../wait-until.ts';

const BIG = 'x'.repeat(20_000);

/**
 * Starts a server that sends pages with one large item each. `counts` are the number of pages that it has read,
 * and whether the list has ended.
 */
async function serve(t: TestContext, pages: number, failsAt = Number.POSITIVE_INFINITY) {
  const counts = { read: 0, ended: false };
  const logged: string[] = [];
  const generate = async function* () {
    try {
      for (let page = 1; page <= pages; page++) {
        counts.read++;
        if (page === failsAt) throw new Error('the database is unavailable');
        yield [{ page, text: BIG }];
      }
    } finally {
      counts.ended = true;
    }
  };
  const app = fastify();
  const log = { error: (_fields: object, message: string) => void logged.push(message) };
  app.get('/', (_request, reply) => sendPages(reply, new Pages(generate()), log as never));
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, counts, logged };
}

test('sends a list of zero, one or many pages as one JSON array', async (t) => {
  for (const pages of [0, 1, 2, 40]) {
    const { url } = await serve(t, pages);
    const list = (await (await fetch(url)).json()) as { page: number }[];
    assert.deepEqual(
      list.map(({ page }) => page),
      Array.from({ length: pages }, (_, i) => i + 1),
    );
  }
});

test('a failure before the second page returns an error response, and a later failure aborts the response and is logged', async (t) => {
  const early = await serve(t, 5, 2);
  assert.equal((await fetch(early.url)).status, 500);
  const late = await serve(t, 5, 4);
  const answer = await fetch(late.url);
  assert.equal(answer.status, 200);
  await assert.rejects(answer.text());
  assert.deepEqual(late.logged, ['a list is incomplete because its next page could not be read']);
});

test('resets the connection of a caller with HTTP/1.0 if a list fails, so that it does not look complete', async (t) => {
  const ask = async (failsAt?: number) => {
    const { port } = new URL((await serve(t, 5, failsAt)).url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    return await text(socket);
  };
  assert.match(await ask(), /\}\]$/);
  await assert.rejects(ask(4), { code: 'ECONNRESET' });
});

test('a HEAD request reads only the beginning of a list', async (t) => {
  const { url, counts } = await serve(t, 1_000);
  const answer = await fetch(url, { method: 'HEAD' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-length'), null);
  assert.deepEqual(counts, { read: 2, ended: true });
});

test('stops reading pages while the caller does not read, and ends when the caller disconnects', async (t) => {
  const pages = 100_000;
  const { url, counts, logged } = await serve(t, pages);
  const aborted = new AbortController();
  const answer = await fetch(url, { signal: aborted.signal });
  const reader = answer.body!.getReader();
  await reader.read();
  let before = -1;
  await waitUntil(
    'no more pages are read',
    () => {
      const same = counts.read === before;
      before = counts.read;
      return same;
    },
    { every: 100 },
  );
  assert.ok(counts.read < pages / 10, `${counts.read} of ${pages} pages were read for nobody`);
  aborted.abort();
  await assert.rejects(reader.read());
  assert.ok(counts.read < pages / 10);
  await waitUntil('the list ends', () => counts.ended);
  assert.deepEqual(logged, []);
});
