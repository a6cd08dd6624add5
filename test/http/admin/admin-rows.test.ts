import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RIGHTS, type Right } from '../../../src/admin/index.ts';
import { adminRows } from '../../../src/http/admin/index.ts';
import { adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { sendRaw, startTestService, type TestService } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
  const admin = await administrator(service);
  // This user's roles grant no right to change data.
  const users = [helper('viewer', 'view-realm', 'view-users', 'view-clients', 'view-events')];
  assert.equal((await admin('POST', '', { realm: 'x', enabled: true, users })).status, 201);
});
after(() => service.stop());

const viewerToken = async (): Promise<string> => {
  const { body } = await loginAs(service, 'x', { username: 'viewer', password: 'pw' });
  return body['access_token']!;
};

/** Replaces the parameters of a path with ids of records that do not exist. */
const filled = (path: string) => path.replace(/:\w+|\*/g, 'none');

test('every administrative route that changes data rejects callers without the required right before it parses the body', async () => {
  const viewer = adminApi(service, await viewerToken());
  let rows = 0;
  for (const { method, path, right } of adminRows) {
    if (method === 'GET' || right === 'none') continue;
    const { status } = await viewer(method, `/x${filled(path)}`, '{"broken":');
    // Callers who may query records of this kind get 404, because the record does not exist, as in Keycloak.
    assert.ok(
      status === 403 || (status === 404 && /:(id|client|name)/.test(path)),
      `${method} ${path}: ${status}`,
    );
    rows++;
  }
  assert.ok(rows > 60, String(rows));
});

test('every administrative route requires a right that a role can grant, except the list of realms and unknown paths', () => {
  for (const row of adminRows) {
    if (typeof row.right === 'function') continue;
    if (row.right === 'none')
      assert.ok(row.path === '/*' || (row.method === 'GET' && row.path === ''), row.path);
    else assert.ok(RIGHTS[row.right satisfies Right].length > 0, row.path);
  }
});

test('rejects a caller without the right to create realms before it reads a large body', async () => {
  const head = [
    'POST /admin/realms HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${await viewerToken()}`,
    'Content-Type: application/json',
    'Content-Length: 33554432',
  ];
  const answer = await sendRaw(service.address, `${head.join('\r\n')}\r\n\r\n`, { enough: /HTTP 403/ });
  assert.match(answer, /^HTTP\/1\.1 403 /);
});
