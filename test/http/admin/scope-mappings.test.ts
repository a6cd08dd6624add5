import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

let service: TestService;
let api: AdminApi;

before(async () => {
  service = await startTestService();
  api = await administrator(service);
  const made = await api('POST', '', {
    realm: 'acme',
    enabled: true,
    adminEventsEnabled: true,
    clients: [
      { id: 'shop', clientId: 'shop', fullScopeAllowed: false },
      { id: 'api', clientId: 'api' },
    ],
    clientScopes: [{ id: 'orders', name: 'orders', protocol: 'openid-connect' }],
    roles: {
      realm: [
        { id: 'staff', name: 'staff', composites: { client: { api: ['read'] } } },
        { id: 'guest', name: 'guest' },
      ],
      client: { api: [{ id: 'read', name: 'read' }] },
    },
    users: [helper('viewer', 'view-clients'), helper('clerk', 'manage-clients')],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
});
after(() => service.stop());

const names = (json: unknown) => (json as readonly { name: string }[]).map(({ name }) => name).sort();

for (const [what, base] of [
  ['a client', '/acme/clients/shop/scope-mappings'],
  ['a client scope', '/acme/client-scopes/orders/scope-mappings'],
] as const)
  test(`adds, lists and removes the roles in the scope of ${what}, as Keycloak 26 does`, async () => {
    assert.deepEqual((await api('GET', base)).json, {});
    assert.equal((await api('POST', `${base}/realm`, [{ id: 'staff', name: 'staff' }])).status, 204);
    assert.equal((await api('POST', `${base}/clients/api`, [{ id: 'read', name: 'read' }])).status, 204);
    const all = (await api('GET', base)).json;
    assert.deepEqual(names(all.realmMappings), ['staff']);
    assert.deepEqual(names(all.clientMappings.api.mappings), ['read']);
    assert.deepEqual(names((await api('GET', `${base}/realm`)).json), ['staff']);
    assert.ok(!names((await api('GET', `${base}/realm/available`)).json).includes('staff'));
    await api('DELETE', `${base}/clients/api`, [{ id: 'read', name: 'read' }]);
    assert.deepEqual(names((await api('GET', `${base}/clients/api`)).json), []);
    assert.deepEqual(names((await api('GET', `${base}/clients/api/composite`)).json), ['read']);
    const events = (await api('GET', '/acme/admin-events?max=1')).json;
    assert.equal(events[0].resourceType, 'CLIENT_SCOPE_MAPPING');
    assert.equal(events[0].resourcePath, `${base.slice('/acme/'.length)}/clients/api`);
    assert.equal((await api('DELETE', `${base}/realm`, [{ id: 'staff', name: 'staff' }])).status, 204);
    assert.deepEqual((await api('GET', base)).json, {});
  });

test('every role is in the scope of a client with full scope', async () => {
  const { json } = await api('GET', '/acme/clients/api/scope-mappings/realm/composite');
  assert.ok(names(json).includes('guest') && names(json).includes('staff'));
});

test('a caller who may only view clients may not change scopes, and administrative roles need the right to grant them', async () => {
  const as = async (username: string) =>
    adminApi(service, (await loginAs(service, 'acme', { username, password: 'pw' })).body['access_token']!);
  const base = '/acme/client-scopes/orders/scope-mappings';
  const viewer = await as('viewer');
  assert.equal((await viewer('GET', base)).status, 200);
  assert.equal((await viewer('POST', `${base}/realm`, [{ id: 'guest', name: 'guest' }])).status, 403);
  const [management] = (await api('GET', '/acme/clients?clientId=realm-management')).json;
  const role = (await api('GET', `/acme/clients/${management.id}/roles/manage-users`)).json;
  const clerk = await as('clerk');
  assert.equal((await clerk('POST', `${base}/realm`, [{ id: 'guest', name: 'guest' }])).status, 204);
  assert.equal((await clerk('POST', `${base}/clients/${management.id}`, [role])).status, 403);
});
