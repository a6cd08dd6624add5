import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const PROFILE = { attributes: [{ name: 'username' }, { name: 'department', displayName: 'Department' }] };

test('GET users/profile returns the definitions of the realm, or those of Keycloak by default', async () => {
  const api = await administrator(service);
  const provider = 'org.keycloak.userprofile.UserProfileProvider';
  const made = await api('POST', '', {
    realm: 'acme',
    enabled: true,
    users: [helper('clerk', 'query-users'), helper('other', 'view-events')],
    components: {
      [provider]: [
        {
          providerId: 'declarative-user-profile',
          config: { 'kc.user.profile.config': [JSON.stringify(PROFILE)] },
        },
      ],
    },
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const { json } = await api('GET', '/master/users/profile');
  const names = (json.attributes as readonly { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names, ['username', 'email', 'firstName', 'lastName']);
  for (const [username, status] of [
    ['clerk', 200],
    ['other', 403],
  ] as const) {
    const { body } = await loginAs(service, 'acme', { username, password: 'pw' });
    const answer = await adminApi(service, body['access_token']!)('GET', '/acme/users/profile');
    assert.equal(answer.status, status);
    if (status === 200) assert.deepEqual(answer.json, PROFILE);
  }
});
