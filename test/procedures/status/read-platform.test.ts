import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { readKnownRealms } from '../../../src/procedures/status/read-platform.ts';
import { makePlatform, procedureOptions } from '../platform.ts';

it('names the log of the service if it accepts the login and then fails, and not the password', async (t) => {
  const platform = await makePlatform(t);
  const server = createServer((request, response) => {
    const isToken = request.method === 'POST';
    response.writeHead(isToken ? 200 : 503, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(isToken ? { access_token: 'a.b.c', expires_in: 60 } : { error: 'unavailable' }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { judgements } = await readKnownRealms(await platform.load(), baseUrl, procedureOptions());
  const [message] = judgements.map((judgement) => judgement.message);
  assert.match(message ?? '', /returned 503\); read the log of the service$/);
});
