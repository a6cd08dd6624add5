import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import { waitUntil } from '../../wait-until.ts';
import { type AdminApi, administrator, loginAs } from '../administrator.ts';
import { html, logInAt, openPage, passwordOf, person } from '../browser/acme.ts';
import { CookieJar } from '../browser/cookie-jar.ts';
import { readElements } from '../pages/read-page.ts';
import { form, startTestService, type TestService, tokenUrl } from '../service.ts';

interface Received {
  path: string;
  type: string | undefined;
  fields: URLSearchParams;
}

let service: TestService;
let admin: AdminApi;
let receiver: Server;
let received: Received[] = [];
/** The statuses with which the client responds to the next calls. After these, it responds with 200. */
let statuses: number[] = [];
let receiverUrl: string;
let atOnce = { now: 0, most: 0 };

before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    atOnce.now += 1;
    atOnce.most = Math.max(atOnce.most, atOnce.now);
    request.on('data', (part) => parts.push(part));
    request.on('end', async () => {
      await pause(20);
      atOnce.now -= 1;
      const fields = new URLSearchParams(Buffer.concat(parts).toString());
      received.push({ path: request.url ?? '', type: request.headers['content-type'], fields });
      response.writeHead(statuses.shift() ?? 200, { location: `${receiverUrl}/elsewhere` }).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const client = (clientId: string, attributes: Record<string, string>) => ({
    clientId,
    publicClient: true,
    directAccessGrantsEnabled: true,
    redirectUris: ['https://app.example.test/cb'],
    attributes,
  });
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    users: [
      {
        ...person('ben'),
        clientConsents: ['notified', 'sidless'].map((clientId) => ({
          clientId,
          grantedClientScopes: ['profile'],
          createdDate: 1_700_000_000_000,
          lastUpdatedDate: 1_700_000_000_000,
        })),
      },
      {
        username: 'ann',
        enabled: true,
        email: 'ann@example.test',
        firstName: 'Ann',
        lastName: 'Archer',
        credentials: [{ type: 'password', value: 'Correct-Horse-1' }],
      },
    ],
    clients: [
      client('notified', { 'backchannel.logout.url': `${receiverUrl}/notified` }),
      client('sidless', {
        'backchannel.logout.url': `${receiverUrl}/sidless`,
        'backchannel.logout.session.required': 'false',
      }),
      client('silent', {}),
      client('keyless', {
        'backchannel.logout.url': `${receiverUrl}/keyless`,
        'id.token.signed.response.alg': 'ES384',
      }),
    ],
  });
  assert.equal(made.status, 201);
});

after(async () => {
  receiver.close();
  await service.stop();
});

async function login(clientId: string): Promise<Record<string, string>> {
  const { status, body } = await loginAs(service, 'acme', {
    client_id: clientId,
    username: 'ann',
    password: 'Correct-Horse-1',
    scope: 'openid',
  });
  assert.equal(status, 200);
  received = [];
  statuses = [];
  return body;
}

async function loginAsBen(clientId: string): Promise<Record<string, string>> {
  const fields = { client_id: clientId, username: 'ben', password: passwordOf('ben') };
  const { status, body } = await loginAs(service, 'acme', fields);
  assert.equal(status, 200);
  received = [];
  return body;
}

async function annsId(): Promise<string> {
  return (await admin('GET', '/acme/users?username=ann')).json[0].id;
}

async function logout(clientId: string, refreshToken: string): Promise<void> {
  const url = `${service.address}/realms/acme/protocol/openid-connect/logout`;
  const answer = await fetch(url, form({ client_id: clientId, refresh_token: refreshToken }));
  assert.equal(answer.status, 204);
}

/** Waits until the client has received `count` calls. Fails after 30 seconds. */
async function calls(count: number): Promise<void> {
  await waitUntil(`${count} calls came`, () => received.length >= count, {
    seconds: 30,
    seen: () => received.length,
  });
  assert.equal(received.length, count);
}

async function verify(token: string, audience: string): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${service.address}/realms/acme/protocol/openid-connect/certs`));
  const issuer = `${service.address}/realms/acme`;
  return (await jwtVerify(token, keys, { issuer, audience, typ: 'logout+jwt', maxTokenAge: 120 })).payload;
}

test('notifies a client with a logout token that has exactly the required claims (Back-Channel Logout §2.4)', async () => {
  const tokens = await login('notified');
  await logout('notified', tokens['refresh_token']!);
  await calls(1);
  const [{ path, type, fields }] = received as [Received];
  assert.equal(path, '/notified');
  assert.equal(type, 'application/x-www-form-urlencoded');
  assert.deepEqual([...fields.keys()], ['logout_token']);
  const token = fields.get('logout_token')!;
  assert.equal(decodeProtectedHeader(token).alg, 'RS256');
  const { iat, exp, jti, ...claims } = await verify(token, 'notified');
  assert.equal(exp! - iat!, 120);
  assert.ok(jti);
  const idToken = JSON.parse(Buffer.from(tokens['id_token']!.split('.')[1]!, 'base64url').toString());
  assert.deepEqual(claims, {
    iss: `${service.address}/realms/acme`,
    aud: 'notified',
    sub: idToken.sub,
    sid: idToken.sid,
    typ: 'Logout',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
});

test('notifies the clients of a session that ends because a refresh token was reused', async () => {
  await admin('PUT', '/acme', { revokeRefreshToken: true, refreshTokenMaxReuse: 0 });
  const tokens = await login('notified');
  const refresh = () =>
    fetch(
      tokenUrl(service, 'acme'),
      form({ grant_type: 'refresh_token', client_id: 'notified', refresh_token: tokens['refresh_token']! }),
    );
  assert.equal((await refresh()).status, 200);
  assert.equal(received.length, 0);
  assert.equal((await refresh()).status, 400);
  await calls(1);
  const claims = await verify(received[0]!.fields.get('logout_token')!, 'notified');
  assert.equal(claims['sid'], decodeJwt(tokens['access_token']!)['sid']);
  assert.equal((await refresh()).status, 400);
  assert.equal(received.length, 1);
  await admin('PUT', '/acme', { revokeRefreshToken: false });
});

test('omits sid if the client does not require it, and does not notify a client without a logout URL', async () => {
  await logout('sidless', (await login('sidless'))['refresh_token']!);
  assert.equal((await verify(received[0]!.fields.get('logout_token')!, 'sidless'))['sid'], undefined);
  await logout('silent', (await login('silent'))['refresh_token']!);
  assert.equal(received.length, 0);
});

test('retries a client after a server error, but not after a rejection', async () => {
  const tokens = await login('notified');
  statuses = [503];
  await logout('notified', tokens['refresh_token']!);
  await calls(2);
  const [first, second] = received.map(({ fields }) => fields.get('logout_token'));
  assert.notEqual(first, second);
  const logged = service.log.filter(({ fields }) => fields['detail'] === 'the client responded with 503');
  assert.deepEqual(
    logged.map(({ fields }) => [fields['realm'], fields['clientId'], fields['next']]),
    [['acme', 'notified', 'retry']],
  );
  const again = await login('notified');
  statuses = [400];
  await logout('notified', again['refresh_token']!);
  await calls(1);
  assert.ok(
    service.log.some(
      (line) =>
        line.fields['clientId'] === 'notified' && line.fields['detail'] === 'the client responded with 400',
    ),
  );
});

test('does not follow a redirect from a client’s logout URL', async () => {
  const tokens = await login('notified');
  statuses = [302];
  await logout('notified', tokens['refresh_token']!);
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/notified'],
  );
});

test('ends a session even if idkit cannot sign the logout token, and logs the reason', async () => {
  const tokens = await login('keyless');
  const type = 'org.keycloak.keys.KeyProvider';
  const components = (await admin('GET', `/acme/components?type=${type}`)).json as readonly {
    id: string;
    config: Record<string, string[]>;
  }[];
  const own = components.filter(({ config }) => Object.values(config).flat().includes('P-384'));
  assert.equal(own.length, 1);
  assert.equal((await admin('DELETE', `/acme/components/${own[0]!.id}`)).status, 204);
  await logout('keyless', tokens['refresh_token']!);
  assert.equal(received.length, 0);
  const failures = service.log.filter(({ fields }) => fields['clientId'] === 'keyless' && 'detail' in fields);
  assert.deepEqual(
    failures.map(({ fields }) => fields['detail']),
    ['realm acme has no active ES384 key'],
  );
  const sessions = await admin('GET', `/acme/users/${await annsId()}/sessions`);
  assert.equal(sessions.json.length, 0);
});

test('notifies clients if an administrator ends one or all sessions, sets a password or deletes the user', async () => {
  const id = await annsId();
  const ends: readonly (() => Promise<unknown>)[] = [
    async () => {
      const [session] = (await admin('GET', `/acme/users/${id}/sessions`)).json;
      await admin('DELETE', `/acme/sessions/${session.id}`);
    },
    () => admin('POST', `/acme/users/${id}/logout`),
    () => admin('PUT', `/acme/users/${id}/reset-password`, { type: 'password', value: 'Correct-Horse-1' }),
    () => admin('DELETE', `/acme/users/${id}`),
  ];
  for (const end of ends) {
    await login('notified');
    await end();
    await calls(1);
    await verify(received[0]!.fields.get('logout_token')!, 'notified');
  }
});

test('notifies clients when a refresh finds that the session has expired (docs/keycloak/sessions.md#what-ends-a-session)', async () => {
  const tokens = await loginAsBen('notified');
  const { ssoSessionMaxLifespan } = (await admin('GET', '/acme')).json;
  assert.equal((await admin('PUT', '/acme', { ssoSessionMaxLifespan: 1 })).status, 204);
  await pause(2100);
  const fields = {
    grant_type: 'refresh_token',
    client_id: 'notified',
    refresh_token: tokens['refresh_token']!,
  };
  const answer = await fetch(tokenUrl(service, 'acme'), form(fields));
  assert.equal((await admin('PUT', '/acme', { ssoSessionMaxLifespan })).status, 204);
  assert.equal(((await answer.json()) as Record<string, string>)['error_description'], 'Session not active');
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/notified'],
  );
});

test('notifies only the client whose consent is revoked, as Keycloak does', async () => {
  const ben = (await admin('GET', '/acme/users?username=ben')).json[0].id;
  for (const client of ['notified', 'notified', 'sidless']) await loginAsBen(client);
  received = [];
  assert.equal((await admin('DELETE', `/acme/users/${ben}/consents/notified`)).status, 204);
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/notified', '/notified'],
  );
  await verify(received[0]!.fields.get('logout_token')!, 'notified');

  received = [];
  const url = `${service.address}/realms/acme/account/applications`;
  const jar = new CookieJar();
  const page = await (await logInAt(service, jar, url, 'ben')).text();
  const { value } = readElements(page).find(
    ({ attributes }) => attributes['name'] === 'stateChecker',
  )!.attributes;
  const [client] = (await admin('GET', '/acme/clients?clientId=sidless')).json;
  const removed = await jar.fetch(url, form({ stateChecker: value!, client: client.id }));
  assert.equal(removed.status, 302);
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/sidless'],
  );
});

test('notifies a client with offline tokens once at the logout, and its offline tokens stay valid, as in Keycloak', async () => {
  const jar = new CookieJar();
  const redirect_uri = 'https://app.example.test/cb';
  const base = `${service.address}/realms/acme/protocol/openid-connect`;
  const parameters = { client_id: 'notified', response_type: 'code', redirect_uri };
  const exchange = async (scope: string, open: (url: string) => Promise<Response>) => {
    const answer = await open(`${base}/auth?${new URLSearchParams({ ...parameters, scope })}`);
    const code = new URL(answer.headers.get('location')!).searchParams.get('code')!;
    const fields = { client_id: 'notified', grant_type: 'authorization_code', redirect_uri, code };
    const tokens = await fetch(tokenUrl(service, 'acme'), form(fields));
    return (await tokens.json()) as Record<string, string>;
  };
  for (const online of [false, true]) {
    const offline = await exchange('openid offline_access', (url) => logInAt(service, jar, url, 'ben'));
    if (online) await exchange('openid', (url) => openPage(service, jar, url));
    received = [];
    const ended = await jar.fetch(
      `${base}/logout?${new URLSearchParams({ id_token_hint: offline['id_token']! })}`,
      { headers: html },
    );
    assert.equal(ended.status, 200);
    assert.equal(received.length, 1, online ? 'with online tokens too' : 'with offline tokens alone');
    const { sid } = await verify(received[0]!.fields.get('logout_token')!, 'notified');
    assert.equal(sid, offline['session_state']);
    const fields = { grant_type: 'refresh_token', client_id: 'notified' };
    const again = await fetch(
      tokenUrl(service, 'acme'),
      form({ ...fields, refresh_token: offline['refresh_token']! }),
    );
    assert.equal(again.status, 200);
  }
});

test('notifies the clients of many sessions that end together, with at most 32 parallel calls', async () => {
  const made = await admin('POST', '/acme/users', {
    username: 'many',
    enabled: true,
    email: 'many@example.test',
    firstName: 'Many',
    lastName: 'Sessions',
    credentials: [{ type: 'password', value: 'Correct-Horse-1' }],
  });
  const id = made.headers.get('location')!.split('/').at(-1)!;
  for (let count = 0; count < 40; count++) {
    const { status } = await loginAs(service, 'acme', {
      client_id: 'notified',
      username: 'many',
      password: 'Correct-Horse-1',
    });
    assert.equal(status, 200);
  }
  received = [];
  atOnce = { now: 0, most: 0 };
  assert.equal((await admin('POST', `/acme/users/${id}/logout`)).status, 204);
  await calls(40);
  assert.ok(atOnce.most <= 32, `${atOnce.most} at once`);
});
