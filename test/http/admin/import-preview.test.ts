import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, administrator, helper, loginAs } from '../administrator.ts';
import { login, startTestService, type TestService } from '../service.ts';

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const users = [helper('boss', 'realm-admin'), helper('alice')];
  assert.equal((await admin('POST', '', { realm: 'acme', enabled: true, users })).status, 201);
});
after(() => service.stop());

async function preview(body: unknown, token?: string) {
  const bearer = token ?? (await login(service))['access_token'];
  const answer = await fetch(`${service.address}/admin/import-preview`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields
  return { status: answer.status, json: (await answer.json()) as any };
}

test('a preview of a new realm counts what the import creates, and writes nothing', async () => {
  const file = {
    realm: 'garden',
    enabled: true,
    resetPasswordAllowed: true,
    clients: [{ clientId: 'shop', publicClient: true }],
    users: [helper('rose'), helper('lily')],
    groups: [{ name: 'flowers' }],
  };
  const { status, json } = await preview(file);
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal(json.realm, 'garden');
  assert.deepEqual([json.creates.users, json.creates.groups, json.refused], [2, 1, []]);
  assert.ok(json.creates.clients > 1 && json.creates.clientScopes > 1);
  assert.deepEqual(
    json.unenforced.map(({ what }: { what: string }) => what),
    ['forgotten password'],
  );
  assert.equal((await admin('GET', '/garden')).status, 404);
  assert.equal((await admin('POST', '', file)).status, 201);
  assert.equal((await admin('GET', '/garden/users/count')).json, json.creates.users);
  assert.equal((await admin('DELETE', '/garden')).status, 204);
});

test('a preview names what the import refuses, with its path', async () => {
  const refusedBy = async (file: unknown) => (await preview(file)).json.refused;
  assert.deepEqual(await refusedBy({ realm: 'acme' }), [
    { path: '$.realm', what: 'realm acme exists already' },
  ]);
  assert.deepEqual(await refusedBy({ realm: 'a/b' }), [
    { path: '$.realm', what: "Character '/' not allowed." },
  ]);
  const [fault] = await refusedBy({ realm: 'garden', sslRequired: 'sometimes' });
  assert.equal(fault.path, '$.sslRequired');
  const masked = await refusedBy({
    realm: 'garden',
    clients: [
      { clientId: 'one', secret: '**********' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm file
      { clientId: 'two', secret: '${SECRET}' },
    ],
  });
  assert.deepEqual(
    masked.map(({ path }: { path: string }) => path),
    ['$.clients[0].secret', '$.clients[1].secret'],
  );
  const [unknown] = await refusedBy({ realm: 'garden', users: [{ username: 'rose', age: 3 }] });
  assert.match(unknown.path, /^\$\.users\[0\]/);
});

test('only callers who may create realms get a preview', async () => {
  const boss = await loginAs(service, 'acme', { username: 'boss', password: 'pw' });
  assert.equal((await preview({ realm: 'garden' }, boss.body['access_token'])).status, 403);
});

test('a preview of a partial import lists what it adds, keeps, replaces and refuses, and writes nothing', async () => {
  const records = { users: [helper('alice'), helper('carol')], roles: { realm: [{ name: 'reader' }] } };
  const path = '/acme/partialImport/preview';
  const fail = (await admin('POST', path, { ifResourceExists: 'FAIL', ...records })).json;
  assert.deepEqual(fail.refused, [{ resourceType: 'USER', resourceName: 'alice' }]);
  const skip = (await admin('POST', path, { ifResourceExists: 'SKIP', ...records })).json;
  assert.deepEqual([skip.added, skip.skipped, skip.overwritten, skip.refused], [2, 1, 0, []]);
  const replace = (await admin('POST', path, { ifResourceExists: 'OVERWRITE', ...records })).json;
  assert.deepEqual([replace.added, replace.skipped, replace.overwritten], [2, 0, 1]);
  assert.deepEqual((await admin('GET', '/acme/users?username=carol')).json, []);
  const real = (await admin('POST', '/acme/partialImport', { ifResourceExists: 'SKIP', ...records })).json;
  assert.deepEqual([real.added, real.skipped], [skip.added, skip.skipped]);
});
