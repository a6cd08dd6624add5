import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, administrator, helper, loginAs } from '../administrator.ts';
import { form, startTestService, type TestService, tokenUrl } from '../service.ts';

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const { status } = await admin('POST', '', {
    realm: 'x',
    enabled: true,
    bruteForceProtected: true,
    failureFactor: 1000,
    // Guesses for one user run one at a time and wait only for a limited time, so their hashes have to be cheap.
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
    quickLoginCheckMilliSeconds: 0,
    users: [helper('alice'), helper('bob'), helper('guessed'), helper('twofold'), helper('gone')],
    clients: [{ clientId: 'app', publicClient: true, directAccessGrantsEnabled: true }],
  });
  assert.equal(status, 201);
});
after(() => service.stop());

const idOf = async (username: string): Promise<string> =>
  (await admin('GET', `/x/users?username=${username}&exact=true`)).json[0].id;

const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

async function refreshes(refreshToken: string): Promise<number> {
  const fields = { grant_type: 'refresh_token', client_id: 'app', refresh_token: refreshToken };
  return (await fetch(tokenUrl(service, 'x'), form(fields))).status;
}

test('many parallel changes of a user are all kept, including the one that disables the user', async () => {
  const id = await idOf('alice');
  const roles = await times(4, async (index) => {
    await admin('POST', '/x/roles', { name: `kept-${index}` });
    return (await admin('GET', `/x/roles/kept-${index}`)).json;
  });
  await Promise.all([
    ...roles.map((role) => admin('POST', `/x/users/${id}/role-mappings/realm`, [role])),
    admin('PUT', `/x/users/${id}`, { firstName: 'First' }),
    admin('PUT', `/x/users/${id}`, { lastName: 'Last' }),
    admin('PUT', `/x/users/${id}`, { enabled: false }),
    admin('POST', `/x/users/${id}/logout`),
    admin('PUT', `/x/users/${id}/reset-password`, { value: 'pw' }),
  ]);
  const { json: user } = await admin('GET', `/x/users/${id}`);
  assert.deepEqual([user.firstName, user.lastName, user.enabled], ['First', 'Last', false]);
  const held = (await admin('GET', `/x/users/${id}/role-mappings/realm`)).json as { name: string }[];
  assert.equal(held.filter(({ name }) => name.startsWith('kept-')).length, 4);
});

test('many parallel changes of a role, a client or a realm are all kept', async () => {
  const roles = await times(4, async (index) => {
    await admin('POST', '/x/roles', { name: `part-${index}` });
    return (await admin('GET', `/x/roles/part-${index}`)).json;
  });
  const app = (await admin('GET', '/x/clients?clientId=app')).json[0].id;
  const mapper = (index: number) => ({
    name: `mapper-${index}`,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-claim-mapper',
    config: { 'claim.name': `claim-${index}`, 'claim.value': 'x' },
  });
  await Promise.all([
    ...roles.map((role) => admin('POST', '/x/roles/default-roles-x/composites', [role])),
    times(4, (index) => admin('POST', `/x/clients/${app}/protocol-mappers/models`, mapper(index))),
    admin('PUT', `/x/clients/${app}`, { name: 'The app' }),
    admin('PUT', '/x', { accessTokenLifespan: 77 }),
    admin('PUT', '/x', { displayName: 'X' }),
    admin('PUT', '/x/events/config', { eventsExpiration: 88 }),
  ]);
  const composites = (await admin('GET', '/x/roles/default-roles-x/composites')).json as { name: string }[];
  assert.equal(composites.filter(({ name }) => name.startsWith('part-')).length, 4);
  const client = (await admin('GET', `/x/clients/${app}`)).json;
  assert.deepEqual([client.protocolMappers.length, client.name], [4, 'The app']);
  const realm = (await admin('GET', '/x')).json;
  assert.deepEqual([realm.accessTokenLifespan, realm.displayName, realm.eventsExpiration], [77, 'X', 88]);
});

test('the role admin of master keeps its composites if it is changed while realms are being created and deleted', async () => {
  const path = '/master/roles/admin/composites';
  await times(2, (index) => admin('POST', '', { realm: `old-${index}` }));
  await admin('POST', '/master/roles', { name: 'extra' });
  const extra = (await admin('GET', '/master/roles/extra')).json;
  const before = (await admin('GET', path)).json.length as number;
  await Promise.all([
    admin('POST', '', { realm: 'new-0' }),
    admin('DELETE', '/old-0'),
    admin('POST', path, [extra]),
    admin('DELETE', '/old-1'),
    admin('POST', '', { realm: 'new-1' }),
  ]);
  assert.equal((await admin('GET', path)).json.length, before + 1);
});

test('a login that started with the old password does not leave a session after the password changes', async () => {
  const id = await idOf('bob');
  let password = 'pw';
  for (let round = 0; round < 8; round++) {
    const next = `next-${round}`;
    const [answers, reset] = await Promise.all([
      times(4, () => loginAs(service, 'x', { client_id: 'app', username: 'bob', password })),
      new Promise((resolve) => setTimeout(resolve, 5 * round)).then(() =>
        admin('PUT', `/x/users/${id}/reset-password`, { value: next }),
      ),
    ]);
    assert.equal(reset.status, 204);
    for (const { status, body } of answers)
      if (status === 200) assert.equal(await refreshes(body['refresh_token']!), 400, `round ${round}`);
      else assert.equal(body['error'], 'invalid_grant');
    password = next;
  }
});

test('no token is valid after a session ends during a refresh, whichever finishes first', async () => {
  const id = await idOf('twofold');
  const oidc = `${service.address}/realms/x/protocol/openid-connect`;
  const enders: readonly ((tokens: Record<string, string>) => Promise<unknown>)[] = [
    (tokens) => fetch(`${oidc}/logout`, form({ client_id: 'app', refresh_token: tokens['refresh_token']! })),
    (tokens) => fetch(`${oidc}/revoke`, form({ client_id: 'app', token: tokens['refresh_token']! })),
    () => admin('POST', `/x/users/${id}/logout`),
    (tokens) => admin('DELETE', `/x/sessions/${tokens['session_state']}`),
    () => admin('PUT', `/x/users/${id}/reset-password`, { value: 'pw' }),
  ];
  for (const [index, end] of [...enders, ...enders].entries()) {
    const { body } = await loginAs(service, 'x', {
      client_id: 'app',
      username: 'twofold',
      password: 'pw',
      scope: 'openid',
    });
    const fields = { grant_type: 'refresh_token', client_id: 'app', refresh_token: body['refresh_token']! };
    const [answer] = await Promise.all([fetch(tokenUrl(service, 'x'), form(fields)), end(body)]);
    if (answer.status !== 200) continue;
    const next = (await answer.json()) as Record<string, string>;
    assert.equal(await refreshes(next['refresh_token']!), 400, `way ${index}`);
    const userInfo = await fetch(`${oidc}/userinfo`, {
      headers: { authorization: `Bearer ${next['access_token']}` },
    });
    assert.equal(userInfo.status, 401, `way ${index}`);
  }
});

test('a user who is deleted during logins and refreshes has no session afterwards', async () => {
  const id = await idOf('gone');
  const fields = { client_id: 'app', username: 'gone', password: 'pw' };
  const { body } = await loginAs(service, 'x', fields);
  const [removed, ...answers] = await Promise.all([
    admin('DELETE', `/x/users/${id}`),
    ...Array.from({ length: 4 }, () => loginAs(service, 'x', fields)),
  ]);
  assert.equal(removed.status, 204);
  assert.equal(await refreshes(body['refresh_token']!), 400);
  for (const answer of answers)
    if (answer.status === 200) assert.equal(await refreshes(answer.body['refresh_token']!), 400);
    else assert.equal(answer.status, 400);
});

test('counts every wrong password that it checks among 50 parallel guesses (docs/keycloak/login.md#brute-force-protection)', async () => {
  const id = await idOf('guessed');
  const before = service.log.length;
  await times(50, () => loginAs(service, 'x', { client_id: 'app', username: 'guessed', password: 'no' }));
  const failed = service.log.slice(before).filter(({ message }) => message === 'LOGIN_ERROR');
  assert.equal(failed.length, 50);
  // Select the guesses that were checked. The others timed out while they waited for the lock.
  const compared = failed.filter(({ fields }) => !('reason' in (fields['details'] as object)));
  const failures = await admin('GET', `/x/attack-detection/brute-force/users/${id}`);
  assert.ok(compared.length > 0);
  assert.equal(failures.json.numFailures, compared.length);
});

test('after a client is renamed, new tokens list its roles under the new clientId', async () => {
  await admin('POST', '', {
    realm: 'named',
    enabled: true,
    clients: [{ clientId: 'owner' }, { clientId: 'job', serviceAccountsEnabled: true, secret: 'job-secret' }],
    roles: { client: { owner: [{ name: 'reader' }] } },
    users: [
      {
        username: 'service-account-job',
        enabled: true,
        serviceAccountClientId: 'job',
        clientRoles: { owner: ['reader'] },
      },
    ],
  });
  const owner = (await admin('GET', '/named/clients?clientId=owner')).json[0].id;
  const fields = { grant_type: 'client_credentials', client_id: 'job', client_secret: 'job-secret' };
  const claims = async () => {
    const answer = await fetch(tokenUrl(service, 'named'), form(fields));
    const { access_token: token } = (await answer.json()) as { access_token: string };
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
  };
  assert.deepEqual((await claims())['resource_access'], { owner: { roles: ['reader'] } });
  assert.equal((await admin('PUT', `/named/clients/${owner}`, { clientId: 'renamed' })).status, 204);
  const next = await claims();
  assert.deepEqual(next['resource_access'], { renamed: { roles: ['reader'] } });
  assert.equal(next['aud'], 'renamed');
});
