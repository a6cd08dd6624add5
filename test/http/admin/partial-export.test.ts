import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const realm = {
    realm: 'acme',
    enabled: true,
    clients: [
      { clientId: 'machine', secret: 'the-secret', serviceAccountsEnabled: true, standardFlowEnabled: false },
    ],
    roles: { client: { machine: [{ name: 'run' }] } },
    groups: [{ name: 'staff' }],
    users: [helper('alice'), helper('clerk', 'manage-realm')],
  };
  assert.equal((await admin('POST', '', realm)).status, 201);
});
after(() => service.stop());

test('a partial export has no users and no secrets (docs/keycloak/import.md#partial-export)', async () => {
  const { status, json } = await admin(
    'POST',
    '/acme/partial-export?exportClients=true&exportGroupsAndRoles=true',
  );
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal(json.realm, 'acme');
  const text = JSON.stringify(json);
  assert.ok(!text.includes('the-secret') && !text.includes('PRIVATE KEY'));
  const machine = json.clients.find(({ clientId }: { clientId: string }) => clientId === 'machine');
  assert.equal(machine.secret, '**********');
  assert.deepEqual(
    json.users.map((user: { serviceAccountClientId: string }) => user.serviceAccountClientId),
    ['machine'],
  );
  assert.equal(json.users[0].credentials, undefined);
  assert.deepEqual(
    json.groups.map(({ name }: { name: string }) => name),
    ['staff'],
  );
  assert.ok(json.roles.client.machine.some(({ name }: { name: string }) => name === 'run'));
  const [keys] = json.components['org.keycloak.keys.KeyProvider'];
  assert.deepEqual(Object.values(keys.config.privateKey ?? keys.config.secret), ['**********']);
});

test('a partial export without parts has only settings, client scopes and components', async () => {
  const { json } = await admin('POST', '/acme/partial-export');
  for (const part of ['clients', 'users', 'groups', 'roles', 'scopeMappings'])
    assert.equal(json[part], undefined, part);
  assert.ok(json.clientScopes.length > 0 && json.accessTokenLifespan === 300);
});

test('a caller exports only the parts that the caller may see', async () => {
  const { body } = await loginAs(service, 'acme', { username: 'clerk', password: 'pw' });
  const clerk = adminApi(service, body['access_token']!);
  assert.equal((await clerk('POST', '/acme/partial-export')).status, 200);
  assert.equal((await clerk('POST', '/acme/partial-export?exportClients=true')).status, 403);
  assert.equal((await clerk('POST', '/acme/partial-export?exportGroupsAndRoles=true')).status, 403);
  const alice = await loginAs(service, 'acme', { username: 'alice', password: 'pw' });
  const token = alice.body['access_token']!;
  assert.equal((await adminApi(service, token)('POST', '/acme/partial-export')).status, 403);
});
