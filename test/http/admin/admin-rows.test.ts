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
  // Any administrative role at all, and no right of a row that changes something.
  const users = [helper('looker', 'view-realm', 'view-users', 'view-clients', 'view-events')];
  assert.equal((await admin('POST', '', { realm: 'x', enabled: true, users })).status, 201);
});
after(() => service.stop());

const lookerToken = async (): Promise<string> => {
  const { body } = await loginAs(service, 'x', { username: 'looker', password: 'pw' });
  return body['access_token']!;
};

/** A path whose records are not there. */
const filled = (path: string) => path.replace(/:\w+|\*/g, 'none');

test('every row that changes something names a right, and who lacks it is refused before the body is looked at', async () => {
  const looker = adminApi(service, await lookerToken());
  let rows = 0;
  for (const { method, path, right } of adminRows) {
    if (method === 'GET' || right === 'none') continue;
    const { status } = await looker(method, `/x${filled(path)}`, '{"broken":');
    // A record that is not there is 404 for who may ask for such records, as in Keycloak.
    assert.ok(
      status === 403 || (status === 404 && /:(id|client|name)/.test(path)),
      `${method} ${path}: ${status}`,
    );
    rows++;
  }
  assert.ok(rows > 60, String(rows));
});

test('the right of a row is one that roles give; nothing but paths that are not built has none', () => {
  for (const row of adminRows) {
    if (typeof row.right === 'function') continue;
    if (row.right === 'none')
      assert.ok(row.path === '/*' || (row.method === 'GET' && row.path === ''), row.path);
    else assert.ok(RIGHTS[row.right satisfies Right].length > 0, row.path);
  }
});

test('who may not make realms is refused before a large body is read', async () => {
  const head = [
    'POST /admin/realms HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${await lookerToken()}`,
    'Content-Type: application/json',
    'Content-Length: 33554432',
  ];
  const answer = await sendRaw(service.address, `${head.join('\r\n')}\r\n\r\n`, { enough: /HTTP 403/ });
  assert.match(answer, /^HTTP\/1\.1 403 /);
});
