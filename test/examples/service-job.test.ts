import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDERS, startExampleRealm } from '../client/example-realm.ts';
import { runExample } from './run-example.ts';

test('the protected API accepts callers according to their roles, including the machine-to-machine job', async (t) => {
  const realm = await startExampleRealm(t);
  const BASE_URL = realm.address;
  const api = runExample(t, 'protected-api.js', { BASE_URL, PORT: '0' });
  const [, API] = await api.printed(/protected API on (\S+)/);

  const job = runExample(t, 'service-job.js', { BASE_URL, API: API!, CLIENT_SECRET: ORDERS.clientSecret });
  assert.equal(await job.ended, 0, job.output());
  assert.equal(job.output(), '2 orders\n');
  const wrong = runExample(t, 'service-job.js', { BASE_URL, API: API!, CLIENT_SECRET: 'wrong' });
  assert.equal(await wrong.ended, 1);
  assert.match(wrong.output(), /ClientError: the service rejected the request: 401 unauthorized_client/);

  const call = async (method: string, path: string, username?: string): Promise<number> => {
    const tokens = username === undefined ? undefined : await realm.logIn(username);
    const authorization = `Bearer ${tokens?.['access_token']}`;
    const headers = tokens === undefined ? {} : { authorization };
    return (await fetch(`${API}${path}`, { method, headers })).status;
  };
  assert.equal(await call('GET', '/orders'), 401);
  assert.equal(await call('GET', '/orders', 'bob'), 200);
  assert.equal(await call('DELETE', '/orders/1', 'bob'), 403);
  assert.equal(await call('DELETE', '/orders/1', 'alice'), 204);
  assert.equal(await call('DELETE', '/orders/1', 'alice'), 404);
});
