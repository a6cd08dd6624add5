import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi, administrator } from '../http/administrator.ts';
import { logInAt, person } from '../http/browser/acme.ts';
import { CookieJar } from '../http/browser/cookie-jar.ts';
import { form, login, refresh, type TestService, tokenUrl } from '../http/service.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { type ReplicatedService, startReplicated } from './in-process.ts';

const skip = missingPostgres();
/**
 * Timeout in milliseconds for a change to reach every replica. The documented limit is 1 s, but a busy machine may take
 * longer.
 */
const FAILS_MS = 4_000;

const JOB_SECRET = 'a-secret-of-thirty-two-characters';

let server: PostgresServer;
let service: ReplicatedService;
let admin: AdminApi;
let each: readonly TestService[];
const ends: (() => Promise<void>)[] = [];

before(async () => {
  if (skip !== undefined) return;
  server = await startPostgres({ after: (end) => void ends.push(end) });
  service = await startReplicated(server, {
    prepare: (dir) =>
      writeFileSync(join(dir, 'import', 'brought.json'), '{"realm":"brought","enabled":true}'),
  });
  each = service.replicas;
  admin = adminApi(service, (await login(service))['access_token']!);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    bruteForceProtected: true,
    failureFactor: 5,
    waitIncrementSeconds: 60,
    maxFailureWaitSeconds: 900,
    quickLoginCheckMilliSeconds: 0,
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    users: [person('alice'), person('bob'), person('carol')],
    clients: [
      {
        clientId: 'web',
        publicClient: true,
        directAccessGrantsEnabled: true,
        redirectUris: ['http://app.test/*'],
      },
      {
        clientId: 'job',
        serviceAccountsEnabled: true,
        clientAuthenticatorType: 'client-secret-jwt',
        secret: JOB_SECRET,
      },
    ],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
});
after(async () => {
  await service?.close();
  for (const end of ends) await end();
});

const password = (at: { address: string }, username: string, value = `password-of-${username}`) =>
  fetch(
    tokenUrl(at, 'acme'),
    form({ grant_type: 'password', client_id: 'web', scope: 'openid', username, password: value }),
  );

async function tokens(at: { address: string }, username: string): Promise<Record<string, string>> {
  const answer = await password(at, username);
  const body = (await answer.json()) as Record<string, string>;
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body;
}

async function refreshAt(at: { address: string }, token: string) {
  const fields = { grant_type: 'refresh_token', client_id: 'web', refresh_token: token };
  const answer = await fetch(tokenUrl(at, 'acme'), form(fields));
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Calls `look` for every replica until it returns true. Fails if a replica takes too long. */
async function everywhere(what: string, look: (at: TestService) => Promise<boolean>): Promise<void> {
  await Promise.all(
    each.map((at, index) =>
      waitUntil(`${what} at replica ${index}`, () => look(at), { seconds: FAILS_MS / 1000, every: 10 }),
    ),
  );
}

test('replicas that start in parallel on an empty database create realm master only once', {
  skip,
}, async () => {
  assert.equal(each.filter(({ firstStart }) => firstStart).length, 1);
  const master = await administrator(each[0]!);
  const users = (await master('GET', '/master/users')).json as { username: string }[];
  assert.deepEqual(
    users.map(({ username }) => username),
    ['admin'],
  );
});

test('only one replica imports a realm file that all of them have', {
  skip,
}, async () => {
  assert.deepEqual(
    each.flatMap(({ imported }) => imported),
    ['brought'],
  );
});

test('a login can begin on one replica and end on another, and a third replica can exchange the code', {
  skip,
}, async () => {
  for (let round = 0; round < 4; round++) {
    const query = `client_id=web&response_type=code&scope=openid&redirect_uri=${encodeURIComponent('http://app.test/cb')}`;
    const jar = new CookieJar();
    const ended = await logInAt(
      service as unknown as TestService,
      jar,
      `${service.address}/realms/acme/protocol/openid-connect/auth?${query}`,
      'alice',
    );
    const code = new URL(ended.headers.get('location')!).searchParams.get('code')!;
    const fields = {
      grant_type: 'authorization_code',
      client_id: 'web',
      code,
      redirect_uri: 'http://app.test/cb',
    };
    const answers = await times(6, (index) => fetch(tokenUrl(each[index % 3]!, 'acme'), form(fields)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1, 'a code is exchanged once');
  }
});

test('if one refresh token is presented to all replicas many times, exactly one request succeeds', {
  skip,
}, async () => {
  for (let round = 0; round < 3; round++) {
    const { refresh_token: token } = await tokens(each[round]!, 'alice');
    const answers = await times(60, (index) => refreshAt(each[index % 3]!, token!));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    for (const at of each) assert.equal((await refreshAt(at, won[0]!.body['refresh_token']!)).status, 400);
  }
});

test('each rotation of a token family may use another replica, and a logout applies immediately', {
  skip,
}, async () => {
  let { refresh_token: token, access_token: access } = await tokens(each[0]!, 'alice');
  for (let step = 0; step < 9; step++) {
    const { status, body } = await refreshAt(each[step % 3]!, token!);
    assert.equal(status, 200);
    token = body['refresh_token'];
    access = body['access_token'];
  }
  const userinfo = (at: TestService) =>
    fetch(`${at.address}/realms/acme/protocol/openid-connect/userinfo`, {
      headers: { authorization: `Bearer ${access}` },
    });
  for (const at of each) assert.equal((await userinfo(at)).status, 200);
  const logout = `${each[1]!.address}/realms/acme/protocol/openid-connect/logout`;
  assert.equal((await fetch(logout, form({ client_id: 'web', refresh_token: token! }))).status, 204);
  for (const at of each) {
    assert.equal((await userinfo(at)).status, 401);
    assert.equal((await refreshAt(at, token!)).status, 400);
  }
});

test('a client assertion is accepted only once, whichever replica receives it', { skip }, async () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (let round = 0; round < 3; round++) {
    const exp = Math.floor(Date.now() / 1000) + 60;
    const aud = `${service.address}/realms/acme`;
    const signed = `${encode({ alg: 'HS256' })}.${encode({ iss: 'job', sub: 'job', aud, exp, jti: `jti-${round}` })}`;
    const assertion = `${signed}.${createHmac('sha256', JOB_SECRET).update(signed).digest('base64url')}`;
    const fields = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    };
    const answers = await times(9, (index) => fetch(tokenUrl(each[index % 3]!, 'acme'), form(fields)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  }
});

test('the replicas count the failed logins of a user together', { skip }, async () => {
  await times(12, (index) => password(each[index % 3]!, 'bob', 'wrong'));
  // Send five more wrong passwords. A busy machine may have compared fewer than five of the parallel ones, because each
  // login waits only for a limited time.
  for (let index = 0; index < 5; index++) await password(each[index % 3]!, 'bob', 'wrong');
  const { json: users } = await admin('GET', '/acme/users?username=bob&exact=true');
  const state = await admin('GET', `/acme/attack-detection/brute-force/users/${users[0].id}`);
  assert.deepEqual([state.json.numFailures, state.json.disabled], [5, true]);
  for (const at of each)
    assert.equal((await password(at, 'bob')).status, 400, 'locked, even with the correct password');
});

test('every replica sees a change of a realm, a key and a client within 1 s', {
  skip,
}, async () => {
  const realmName = async (at: TestService) =>
    (await (await fetch(`${at.address}/realms/acme/.well-known/openid-configuration`)).json()) as object;
  for (const at of each) await realmName(at);
  const keys = async (at: TestService) =>
    (
      (await (await fetch(`${at.address}/realms/acme/protocol/openid-connect/certs`)).json()) as {
        keys: { kid: string }[];
      }
    ).keys;
  const before = await Promise.all(each.map(keys));
  const { json: realm } = await admin('GET', '/acme');
  const made = await admin('POST', '/acme/components', {
    name: 'rsa-next',
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    parentId: realm.id,
    config: {
      priority: ['200'],
      enabled: ['true'],
      active: ['true'],
      algorithm: ['RS256'],
      keySize: ['2048'],
    },
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  await everywhere('a new key', async (at) => (await keys(at)).length === before[0]!.length + 1);
  const { access_token: access } = await tokens(each[0]!, 'alice');
  for (const at of each) {
    const info = await fetch(`${at.address}/realms/acme/protocol/openid-connect/userinfo`, {
      headers: { authorization: `Bearer ${access}` },
    });
    assert.equal(info.status, 200, 'a token signed with the new key is valid everywhere');
  }
  const { json: clients } = await admin('GET', '/acme/clients?clientId=web');
  assert.equal((await admin('PUT', `/acme/clients/${clients[0].id}`, { enabled: false })).status, 204);
  await everywhere('a disabled client', async (at) => (await password(at, 'alice')).status === 400);
  assert.equal((await admin('PUT', `/acme/clients/${clients[0].id}`, { enabled: true })).status, 204);
  await everywhere('an enabled client', async (at) => (await password(at, 'alice')).status === 200);
});

test('every replica rejects logins and refreshes of a disabled user within 1 s', {
  skip,
}, async () => {
  const held = await Promise.all(each.map((at) => tokens(at, 'carol')));
  for (const [index, at] of each.entries())
    held[index] = (await refreshAt(at, held[index]!['refresh_token']!)).body;
  const { json: users } = await admin('GET', '/acme/users?username=carol&exact=true');
  assert.equal((await admin('PUT', `/acme/users/${users[0].id}`, { enabled: false })).status, 204);
  await everywhere('a disabled user', async (at) => {
    const index = each.indexOf(at);
    const { status, body } = await refreshAt(at, held[index]!['refresh_token']!);
    if (status === 200) held[index] = body;
    else assert.equal(status, 400);
    return status === 400;
  });
});

test('keeps all changes that several replicas make to the same user, role and realm in parallel', {
  skip,
}, async () => {
  const at = await Promise.all(each.map(administrator));
  const { json: users } = await admin('GET', '/acme/users?username=alice&exact=true');
  const path = `/acme/users/${users[0].id}`;
  const roles = await times(6, async (index) => {
    await at[index % 3]!('POST', '/acme/roles', { name: `part-${index}` });
    return (await at[index % 3]!('GET', `/acme/roles/part-${index}`)).json;
  });
  // A busy replica may reject a change temporarily with 503. Only confirmed changes must be kept.
  const change = async (replica: number, method: string, where: string, body: unknown) => {
    for (let tries = 0; ; tries++) {
      const { status, json } = await at[replica % 3]!(method, where, body);
      // A change that was rejected with 503 may have been stored nevertheless, so a retry may get 409.
      if (status === 201 || status === 204 || (status === 409 && tries > 0)) return;
      assert.ok(status === 503 && tries < 20, `${method} ${where}: ${status} ${JSON.stringify(json)}`);
    }
  };
  await Promise.all([
    change(0, 'PUT', path, { firstName: 'First' }),
    change(1, 'PUT', path, { lastName: 'Last' }),
    change(2, 'PUT', path, { enabled: false }),
    ...roles.map((role, index) => change(index, 'POST', '/acme/roles/default-roles-acme/composites', [role])),
    change(0, 'PUT', '/acme', { accessTokenLifespan: 77 }),
    change(1, 'PUT', '/acme', { displayName: 'X' }),
    change(2, 'PUT', '/acme', { ssoSessionIdleTimeout: 99 }),
    times(6, (index) => change(index, 'POST', '', { realm: `many-${index}`, enabled: true })),
  ]);
  const user = (await admin('GET', path)).json;
  assert.deepEqual([user.firstName, user.lastName, user.enabled], ['First', 'Last', false]);
  const composites = (await admin('GET', '/acme/roles/default-roles-acme/composites')).json as {
    name: string;
  }[];
  assert.equal(composites.filter(({ name }) => name.startsWith('part-')).length, 6);
  const realm = (await admin('GET', '/acme')).json;
  assert.deepEqual(
    [realm.accessTokenLifespan, realm.displayName, realm.ssoSessionIdleTimeout],
    [77, 'X', 99],
  );
  await everywhere('master administers every realm', async (replica) => {
    const again = await administrator(replica);
    const answers = await times(6, (index) => again('GET', `/many-${index}/users`));
    return answers.every(({ status }) => status === 200);
  });
});

test('a session in realm master can be refreshed on another replica, and a logout ends it on all of them', {
  skip,
}, async () => {
  const { refresh_token: token } = await login(each[0]!);
  assert.equal((await refresh(each[1]!, token!)).status, 200);
  assert.equal((await refresh(each[2]!, token!)).status, 400);
});
