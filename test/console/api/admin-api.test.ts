import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type AdminFault, openAdminApi } from '../../../src/console/api/admin-api.ts';

/** Starts a server that rejects each request with the body, and returns the API of the console at it. */
async function rejecting(t: TestContext, body: unknown) {
  const server = createServer((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return openAdminApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}/admin`, fetch);
}

for (const [message, field, text] of [
  ['Invalid value at $.sslRequired: must be one of all, none', 'sslRequired', 'must be one of all, none'],
  [
    'Invalid value at $.attributes["refreshGraceSeconds"]: must be a whole number of seconds from 0 to 300',
    'refreshGraceSeconds',
    'must be a whole number of seconds from 0 to 300',
  ],
] as const)
  test(`an error that names ${field} by its path is shown at that field`, async (t) => {
    const api = await rejecting(t, { error: 'invalid_request', error_description: message });
    const fault = await api.send('PUT', '/acme', {}).catch((error: unknown) => error);
    assert.deepEqual([...(fault as AdminFault).faults], [[field, text]]);
  });

test('a request that is aborted fails with the reason of its signal, not with an error of the service', async (t) => {
  const api = await rejecting(t, {});
  const reason = new Error('a newer search replaces this one');
  await assert.rejects(api.get('/acme/users', {}, AbortSignal.abort(reason)), reason);
});
