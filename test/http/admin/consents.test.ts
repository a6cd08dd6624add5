import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { form, startTestService, type TestService, tokenUrl } from '../service.ts';

let service: TestService;
let api: AdminApi;
let alice: string;
let offline: string;

const CONSENT = {
  clientId: 'shop',
  grantedClientScopes: ['profile'],
  createdDate: 1_700_000_000_000,
  lastUpdatedDate: 1_700_000_000_500,
};

before(async () => {
  service = await startTestService();
  api = await administrator(service);
  const made = await api('POST', '', {
    realm: 'acme',
    enabled: true,
    clients: [
      { clientId: 'shop', consentRequired: true, publicClient: true, directAccessGrantsEnabled: true },
      { clientId: 'desk', publicClient: true, directAccessGrantsEnabled: true },
    ],
    users: [
      {
        ...helper('alice'),
        clientConsents: [CONSENT],
        realmRoles: ['offline_access'],
      },
      helper('viewer', 'view-users'),
    ],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  alice = (await api('GET', '/acme/users?username=alice')).json[0].id;
  const fields = { username: 'alice', password: 'pw', client_id: 'desk', scope: 'offline_access' };
  const { body } = await loginAs(service, 'acme', fields);
  offline = body['refresh_token']!;
});
after(() => service.stop());

async function refreshOffline(): Promise<unknown> {
  const fields = { grant_type: 'refresh_token', client_id: 'desk', refresh_token: offline };
  const answer = await fetch(tokenUrl(service, 'acme'), form(fields));
  return answer.status === 200 ? 200 : await answer.json();
}

test('GET consents lists the consents of a user and the clients with offline tokens (docs/keycloak/users.md)', async () => {
  const { status, json } = await api('GET', `/acme/users/${alice}/consents`);
  assert.equal(status, 200);
  const desk = (await api('GET', '/acme/clients?clientId=desk')).json[0].id;
  assert.deepEqual(json, [
    { ...CONSENT, additionalGrants: [] },
    {
      clientId: 'desk',
      grantedClientScopes: [],
      additionalGrants: [{ client: desk, key: 'Offline Token' }],
    },
  ]);
});

test('reading consents requires view-users, and revoking them requires manage-users (docs/keycloak/admin-api.md#who-may-call)', async () => {
  const { body } = await loginAs(service, 'acme', { username: 'viewer', password: 'pw' });
  const viewer = adminApi(service, body['access_token']!);
  assert.equal((await viewer('GET', `/acme/users/${alice}/consents`)).status, 200);
  assert.equal((await viewer('DELETE', `/acme/users/${alice}/consents/shop`)).status, 403);
  assert.deepEqual((await api('GET', '/acme/users/nobody/consents')).json, { error: 'User not found' });
});

test('DELETE consents revokes the consent and the offline tokens, and responds with 404 the second time', async () => {
  assert.equal(await refreshOfflineWorks(), 200);
  for (const client of ['shop', 'desk']) {
    const deleted = await api('DELETE', `/acme/users/${alice}/consents/${client}`);
    assert.equal(deleted.status, 204, client);
    const again = await api('DELETE', `/acme/users/${alice}/consents/${client}`);
    assert.equal(again.status, 404);
    assert.deepEqual(again.json, { error: 'Consent nor offline token not found' });
  }
  const unknown = await api('DELETE', `/acme/users/${alice}/consents/nobody`);
  assert.deepEqual([unknown.status, unknown.json], [404, { error: 'Client not found' }]);
  assert.deepEqual((await api('GET', `/acme/users/${alice}/consents`)).json, []);
  assert.deepEqual(await refreshOffline(), {
    error: 'invalid_grant',
    error_description: 'Offline user session not found',
  });
});

/** Refreshes the token and stores the new one. Returns the status. */
async function refreshOfflineWorks(): Promise<number> {
  const fields = { grant_type: 'refresh_token', client_id: 'desk', refresh_token: offline };
  const answer = await fetch(tokenUrl(service, 'acme'), form(fields));
  offline = ((await answer.json()) as Record<string, string>)['refresh_token'] ?? offline;
  return answer.status;
}
