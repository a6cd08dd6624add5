import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begin } from '../conformance/store/suite.ts';
import { newStore } from './files.ts';

test('a list of the sessions of a client that starts after its end skips no session', async (t) => {
  const { store } = await newStore(t);
  await begin(store);
  const { mock } = t.mock.method(
    store as unknown as { administrative(query: string): unknown },
    'administrative',
  );
  const list = async (first: number) => {
    const pages = store.clientSessionPages({ clientUuid: 'client-1', offline: false, first, max: 100 });
    let sessions = 0;
    for await (const page of pages) sessions += page.length;
    return sessions;
  };
  assert.equal(await list(0), 1);
  mock.resetCalls();
  assert.equal(await list(9_000_000), 0);
  const sent = mock.calls.map(({ arguments: [query] }) => query);
  assert.ok(!sent.includes('session.ofClient'), sent.join(', '));
});
