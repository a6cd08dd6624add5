// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of realm files
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, administrator } from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

const MASK = '**********';

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const clients = [{ clientId: 'web', secret: 'web-secret', attributes: { 'client.secret.rotated': 'old' } }];
  assert.equal((await admin('POST', '', { realm: 'x', enabled: true, clients })).status, 201);
});
after(() => service.stop());

async function client(clientId: string): Promise<{ id: string; secret: string; attributes: object }> {
  return (await admin('GET', `/x/clients?clientId=${clientId}`)).json[0];
}

test('rejects a new realm or client with 400 if a secret is a mask or a placeholder, and names the field', async () => {
  for (const secret of [MASK, '${SECRET}', '${HOME}']) {
    const realm = await admin('POST', '', { realm: 'y', clients: [{ clientId: 'a', secret }] });
    assert.equal(realm.status, 400);
    assert.match(JSON.stringify(realm.json), /clients\[0\]\.secret/);
    assert.equal((await admin('GET', '/y')).status, 404);
    assert.equal((await admin('POST', '/x/clients', { clientId: 'a', secret })).status, 400);
    const partial = { ifResourceExists: 'FAIL', clients: [{ clientId: 'a', secret }] };
    assert.equal((await admin('POST', '/x/partialImport', partial)).status, 400);
    const users = [{ username: 'u', credentials: [{ type: 'password', value: secret }] }];
    assert.equal((await admin('POST', '', { realm: 'y', users })).status, 400);
  }
});

test('keeps the stored secret if a PUT or a partial import of the client contains a mask', async () => {
  const before = await client('web');
  const attributes = { ...before.attributes, 'client.secret.rotated': MASK };
  const sent = { ...before, name: 'Web', secret: MASK, attributes };
  assert.equal((await admin('PUT', `/x/clients/${before.id}`, sent)).status, 204);
  assert.equal((await client('web')).secret, 'web-secret');
  const rotated = await admin('GET', `/x/clients/${before.id}/client-secret/rotated`);
  assert.equal(rotated.json.value, 'old');
  const partial = {
    ifResourceExists: 'OVERWRITE',
    clients: [{ clientId: 'web', secret: MASK, name: 'Again' }],
  };
  assert.equal((await admin('POST', '/x/partialImport', partial)).status, 200);
  assert.equal((await client('web')).secret, 'web-secret');
  assert.equal((await admin('PUT', `/x/clients/${before.id}`, { ...sent, secret: '${X}' })).status, 400);
  assert.equal(
    (await admin('PUT', `/x/clients/${before.id}`, { ...sent, secret: 'new-secret' })).status,
    204,
  );
  assert.equal((await client('web')).secret, 'new-secret');
});

test('never replaces a placeholder in a request with an environment variable', async () => {
  process.env['IDKIT_TEST_VALUE'] = 'from the environment';
  process.env['REALM_TEST_VALUE'] = 'from the environment';
  const displayName = '${IDKIT_TEST_VALUE} ${REALM_TEST_VALUE}';
  assert.equal((await admin('POST', '', { realm: 'z', displayName })).status, 201);
  assert.equal((await admin('GET', '/z')).json.displayName, displayName);
});
