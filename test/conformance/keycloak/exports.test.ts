import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { Administrator } from './administrator.ts';
import { type RunningPlatform, startPlatform } from './platform.ts';

interface Decoded {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

interface Login {
  realm: string;
  client: string;
  username?: string;
  password?: string;
  secret?: string;
  scope: string | null;
  status: number;
  accessToken?: Decoded;
  idToken?: Decoded;
  body?: Record<string, unknown>;
  rawAccessToken?: string;
}

interface Expected {
  realms: Record<
    string,
    { activeKeys: Record<string, string>; clients: string[]; realmRoles: string[]; userCount: number }
  >;
  logins: Login[];
  clientCredentials: Login[];
}

const exports = new URL('../../fixtures/keycloak/exports/', import.meta.url).pathname;
const expected = JSON.parse(readFileSync(join(exports, 'expected.json'), 'utf8')) as Expected;
/** The base URL of the server that exported the realms. The issuers of their tokens start with it. */
const ISSUER_BASE = 'http://127.0.0.1:8080';
const IMPORTED = ['acme', 'globex', 'initech'];

/** The logins to which idkit responds differently (docs/keycloak/tokens.md#disabled-realm-or-client). */
const DIFFERENCES: Record<string, { status: number; error: string }> = {
  'acme/switched-off': { status: 400, error: 'client_disabled' },
  'initech/job': { status: 400, error: 'realm_disabled' },
};

let platform: RunningPlatform;
let administrator: Administrator;

before(async () => {
  platform = await startPlatform({
    flags: ['--base-url', ISSUER_BASE],
    prepare: (dir) => {
      mkdirSync(join(dir, 'import'), { mode: 0o700 });
      for (const realm of IMPORTED) {
        cpSync(join(exports, `${realm}-realm.json`), join(dir, 'import', `${realm}-realm.json`));
      }
    },
  });
  administrator = new Administrator(platform.baseUrl);
});

after(() => platform?.close());

/**
 * Returns the secret of a login's client. expected.json has only the secrets of service accounts; the export contains
 * the others.
 */
function secretOf(login: Login): string | undefined {
  if (login.secret) return login.secret;
  const file = readFileSync(join(exports, `${login.realm}-realm.json`), 'utf8');
  const { clients } = JSON.parse(file) as { clients: { clientId: string; secret?: string }[] };
  return clients.find((client) => client.clientId === login.client)?.secret;
}

/** Returns the ids of the keys that the export contains. Keycloak creates other keys when they are first needed. */
function exportedKeys(realm: string): string[] {
  return Object.values(expected.realms[realm]?.activeKeys ?? {});
}

function tokenRequest(login: Login): Promise<Response> {
  const form = new URLSearchParams({
    grant_type: login.username === undefined ? 'client_credentials' : 'password',
    client_id: login.client,
  });
  if (login.username !== undefined) form.set('username', login.username);
  if (login.password !== undefined) form.set('password', login.password);
  const secret = secretOf(login);
  if (secret) form.set('client_secret', secret);
  if (login.scope) form.set('scope', login.scope);
  return fetch(`${platform.baseUrl}/realms/${login.realm}/protocol/openid-connect/token`, {
    method: 'POST',
    body: form,
  });
}

/** Returns the claims that two tokens of the same login share, with lists sorted and `exp` replaced by the lifetime. */
function comparable(claims: Record<string, unknown>): Record<string, unknown> {
  const {
    jti: _jti,
    sid: _sid,
    iat,
    exp,
    at_hash: _hash,
    scope,
    clientHost: _host,
    clientAddress: _address,
    ...rest
  } = claims;
  return sorted({
    ...rest,
    lifetime: Number(exp) - Number(iat),
    ...(scope === undefined ? {} : { scope: String(scope).split(' ').sort() }),
  }) as Record<string, unknown>;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

function decode(token: string): Decoded {
  return { header: decodeProtectedHeader(token) as Record<string, unknown>, claims: decodeJwt(token) };
}

for (const login of [...expected.logins, ...expected.clientCredentials]) {
  const who = `${login.username ?? 'service account'} of ${login.realm} at ${login.client}`;
  test(`after the import, idkit responds to ${who} as Keycloak 26 does (exports/expected.json)`, async () => {
    const response = await tokenRequest(login);
    const body = (await response.json()) as Record<string, unknown>;
    const bySpecification = DIFFERENCES[`${login.realm}/${login.client}`];
    if (bySpecification) {
      assert.equal(response.status, bySpecification.status, JSON.stringify(body));
      assert.equal(body['error'], bySpecification.error);
      return;
    }
    assert.equal(response.status, login.status, JSON.stringify(body));
    if (login.body) return assert.deepEqual(body, login.body);
    const access = decode(String(body['access_token']));
    assert.deepEqual(comparable(access.claims), comparable(login.accessToken?.claims ?? {}));
    assert.equal(access.header['alg'], login.accessToken?.header['alg']);
    const kid = String(login.accessToken?.header['kid']);
    if (exportedKeys(login.realm).includes(kid)) assert.equal(access.header['kid'], kid);
    if (login.idToken) {
      assert.deepEqual(comparable(decode(String(body['id_token'])).claims), comparable(login.idToken.claims));
    }
  });
}

for (const login of expected.clientCredentials.filter((each) => each.rawAccessToken)) {
  test(`after the import, the signature of an access token that Keycloak 26 issued to ${login.client} is still valid`, async () => {
    const keys = createRemoteJWKSet(
      new URL(`${platform.baseUrl}/realms/${login.realm}/protocol/openid-connect/certs`),
    );
    const token = String(login.rawAccessToken);
    // The test checks only the signature, because Keycloak limited the token to the 8 hours of its session.
    const { payload } = await jwtVerify(token, keys, {
      issuer: `${ISSUER_BASE}/realms/${login.realm}`,
      currentDate: new Date(Number(decodeJwt(token).iat) * 1000),
    });
    assert.equal(payload['azp'], login.client);
  });
}

for (const realm of IMPORTED) {
  const want = expected.realms[realm];
  assert.ok(want);
  test(`after the import, ${realm} has the users, clients, roles and active keys of the export`, async () => {
    const path = `/${realm}`;
    assert.equal((await administrator.call('GET', `${path}/users/count`)).body, want.userCount);
    const clients = (await administrator.call('GET', `${path}/clients`)).body as { clientId: string }[];
    assert.deepEqual(clients.map((client) => client.clientId).sort(), [...want.clients].sort());
    const roles = (await administrator.call('GET', `${path}/roles`)).body as { name: string }[];
    assert.deepEqual(roles.map((role) => role.name).sort(), [...want.realmRoles].sort());
    const keys = (await administrator.call('GET', `${path}/keys`)).body as { active: Record<string, string> };
    for (const [algorithm, kid] of Object.entries(want.activeKeys))
      assert.equal(keys.active[algorithm], kid, algorithm);
  });
}

test('replaces a hash whose parameters differ from the policy at the next successful login', async () => {
  const users = (await administrator.call('GET', '/acme/users?username=peggy&max=5')).body as {
    id: string;
  }[];
  const credentials = async () =>
    (
      (await administrator.call('GET', `/acme/users/${users[0]?.id}/credentials`)).body as {
        credentialData: string;
      }[]
    ).map((credential) => JSON.parse(credential.credentialData) as { algorithm: string });
  assert.equal((await credentials())[0]?.algorithm, 'pbkdf2-sha256');
  const response = await tokenRequest({
    realm: 'acme',
    client: 'spa',
    username: 'peggy-sha256-unused',
    password: 'Correct-Horse-7',
    scope: null,
    status: 200,
  });
  assert.equal(response.status, 200, await response.text());
  const end = Date.now() + 60_000;
  while ((await credentials())[0]?.algorithm !== 'argon2') {
    assert.ok(Date.now() < end, 'the hash is replaced within 60 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
