import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type AdminApi, administrator, helper, loginAs } from '../administrator.ts';
import { form, readMetrics, startTestService, type TestService, tokenUrl } from '../service.ts';

let service: TestService;
let admin: AdminApi;
let ids: { user: string; client: string };
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const clients = [
    { clientId: 'job', serviceAccountsEnabled: true, secret: 'job-secret' },
    { clientId: 'signer', serviceAccountsEnabled: true, clientAuthenticatorType: 'client-secret-jwt' },
    {
      clientId: 'web',
      publicClient: true,
      directAccessGrantsEnabled: true,
      webOrigins: ['https://web.test'],
    },
  ];
  const { status } = await admin('POST', '', {
    realm: 'x',
    enabled: true,
    users: [helper('alice', 'realm-admin')],
    clients,
  });
  assert.equal(status, 201);
  ids = {
    user: (await admin('GET', '/x/users?username=alice')).json[0].id,
    client: (await admin('GET', '/x/clients?clientId=job')).json[0].id,
  };
});
after(async () => {
  const bugs = service.log.filter(({ message }) => message.includes('is a bug'));
  await service.stop();
  assert.deepEqual(bugs, []);
});

/** Requests to a separate realm, each with a body that is valid there. */
const targets = async (): Promise<readonly (readonly [method: string, path: string, whole: object])[]> => {
  await admin('POST', '', {
    realm: 'any',
    enabled: true,
    users: [helper('eve')],
    clients: [{ clientId: 'one' }],
  });
  const user = `/any/users/${(await admin('GET', '/any/users?username=eve')).json[0].id}`;
  const client = `/any/clients/${(await admin('GET', '/any/clients?clientId=one')).json[0].id}`;
  const mapper = { name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' };
  return [
    ['POST', '/any/users', { username: 'carol', email: 'carol@example.test' }],
    ['PUT', user, {}],
    ['PUT', `${user}/reset-password`, { type: 'password', value: 'pw' }],
    ['POST', `${user}/role-mappings/realm`, {}],
    ['POST', '/any/clients', { clientId: 'two', redirectUris: ['https://two.test/*'] }],
    ['PUT', client, {}],
    ['POST', `${client}/protocol-mappers/models`, mapper],
    ['POST', '/any/roles', { name: 'reader' }],
    ['POST', '/any/roles/offline_access/composites', {}],
    ['POST', '/any/groups', { name: 'staff' }],
    ['POST', '/any/client-scopes', { name: 'scope', protocol: 'openid-connect' }],
    ['POST', '/any/components', { name: 'k', providerId: 'hmac-generated' }],
    ['PUT', '/any/events/config', {}],
    ['PUT', '/any', {}],
    ['POST', '/any/partialImport', { ifResourceExists: 'SKIP' }],
    ['POST', '', { realm: 'made', enabled: false }],
  ];
};

/** Field names of representations, names with a special meaning in JavaScript, and unknown names. */
const names = fc.oneof(
  fc.constantFrom('id', 'name', 'username', 'clientId', 'realm', 'attributes', 'config', 'roles', 'users'),
  fc.constantFrom(
    'credentials',
    'groups',
    'clients',
    'protocolMappers',
    'providerId',
    'composites',
    'secret',
  ),
  fc.constantFrom(
    'accessTokenLifespan',
    'passwordPolicy',
    'notBefore',
    'eventsExpiration',
    'enabled',
    'value',
  ),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', ''),
);
const values = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      null,
      true,
      1e308,
      -1,
      2 ** 53,
      0.5,
      '',
      '\0',
      '\ud800',
      '../x',
      'a\r\nX: y',
      '{x}',
      '%00',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('any')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).any;

test('no JSON that an administrator sends causes an internal error or ends the process', async () => {
  const all = await targets();
  await fc.assert(
    fc.asyncProperty(fc.nat(all.length - 1), names, values, fc.boolean(), async (at, name, value, within) => {
      const [method, path, whole] = all[at]!;
      // Skip a change of the realm's name, because all other paths contain it.
      if (path === '/any' && name === 'realm') return;
      const body = within ? Object.fromEntries([...Object.entries(whole), [name, value]]) : value;
      if (path === '/any' && !within && Object.hasOwn(Object(body), 'realm')) return;
      const { status, headers } = await admin(method, path, JSON.stringify(body));
      assert.ok(status < 500 || status === 501, `${method} ${path}: ${status}`);
      assert.doesNotMatch(headers.get('location') ?? '', /[\r\n]/);
    }),
    { numRuns: 600 },
  );
  assert.equal((await fetch(`${service.address}/health/ready`)).status, 200);
});

test('responds with 400 to broken JSON, deep nesting, duplicate fields and other encodings, and names the input', async () => {
  const deep = `{"attributes":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  for (const [body, say] of [
    ['{', /Cannot parse the JSON/],
    ['', /Cannot parse the JSON/],
    [new Uint8Array([0xff, 0xfe, 0x7b]), /Cannot parse the JSON/],
    [deep, /attributes/],
    ['{"username":"a\\u0000"}', /\$\.username: must not contain a NUL byte/],
    ['{"username":"a\\ud800"}', /\$\.username: must not contain half of a surrogate pair/],
    ['{"attributes":{"a":[{"b":1}]}}', /\$\.attributes\.a\[0\]: must be a string/],
    ['{"__proto__":{"x":1}}', /__proto__/],
    ['{"id":"a\\r\\nSet-Cookie: x=1","username":"abc"}', /\$\.id: must be an id/],
    [`{"${'k'.repeat(50_000)}":1}`, /kkk/],
  ] as const) {
    const { status, json } = await admin('POST', '/x/users', body);
    assert.equal(status, 400);
    const text = JSON.stringify(json);
    assert.match(text, say);
    assert.ok(text.length < 1000, `${text.length} characters`);
  }
  assert.equal((await admin('POST', '/x/users', 'username=x', { 'content-type': 'text/plain' })).status, 415);
});

test('responds with 400 to a name that is longer than Keycloak allows, and names the field, on each database', async () => {
  const long = 'n'.repeat(256);
  for (const [path, field] of [
    ['/x/clients', 'clientId'],
    ['/x/roles', 'name'],
    ['/x/groups', 'name'],
    ['/x/client-scopes', 'name'],
  ] as const) {
    const { status, json } = await admin('POST', path, { [field]: long });
    assert.equal(status, 400, path);
    assert.match(JSON.stringify(json), new RegExp(`\\$\\.${field}: must have at most 255 characters`));
    assert.equal((await admin('POST', path, { [field]: long.slice(1) })).status, 201);
  }
  assert.equal((await admin('POST', '', { realm: long })).status, 400);
  assert.equal((await admin('POST', '/x/users', { username: long })).status, 400);
});

test('rejects settings that would prevent a realm or client from issuing tokens', async () => {
  for (const [field, value] of [
    ['accessTokenLifespan', 1e308],
    ['accessTokenLifespan', -1],
    ['eventsExpiration', 1e15],
    ['defaultSignatureAlgorithm', 'none'],
    ['defaultSignatureAlgorithm', 'constructor'],
  ] as const) {
    const { status, json } = await admin('PUT', '/x', { [field]: value });
    assert.equal(status, 400, `${field} ${value}`);
    assert.match(JSON.stringify(json), new RegExp(field));
  }
  const attributes = { 'access.token.signed.response.alg': 'none' };
  const { status, json } = await admin('PUT', `/x/clients/${ids.client}`, { attributes });
  assert.equal(status, 400);
  assert.match(JSON.stringify(json), /access\.token\.signed\.response\.alg/);
});

test('rejects a grace period of refresh tokens outside 0 to 300 seconds, at a realm, a client and an import', async () => {
  const client = `/x/clients/${ids.client}`;
  const targets = [
    ['PUT', '/x', {}],
    ['PUT', client, {}],
    ['POST', '', { realm: 'lenient' }],
    ['POST', '/x/clients', { clientId: 'lenient' }],
  ] as const;
  for (const value of ['-1', '301', '999999999999', '1.5', 'soon', 1e9, -1])
    for (const [method, path, more] of targets) {
      const attributes = { refreshGraceSeconds: value };
      const { status, json } = await admin(method, path, { ...more, attributes });
      assert.equal(status, 400, `${method} ${path} ${value}`);
      assert.match(JSON.stringify(json), /refreshGraceSeconds.*whole number of seconds from 0 to 300/);
    }
  for (const value of ['300', 30, '', '0']) {
    const { status } = await admin('PUT', client, { attributes: { refreshGraceSeconds: value } });
    assert.equal(status, 204, String(value));
  }
});

test('a mapper with names such as __proto__ or constructor in its settings does not break tokens', async () => {
  for (const [index, [protocolMapper, config]] of (
    [
      ['constructor', {}],
      ['oidc-usermodel-attribute-mapper', { 'user.attribute': 'constructor', 'claim.name': 'a.constructor' }],
      ['oidc-usersessionmodel-note-mapper', { 'user.session.note': 'constructor', 'claim.name': 'note' }],
      ['oidc-hardcoded-claim-mapper', { 'claim.name': 'constructor.prototype.polluted', 'claim.value': 'x' }],
      ['oidc-hardcoded-claim-mapper', { 'claim.name': '__proto__.polluted', 'claim.value': 'x' }],
    ] as const
  ).entries()) {
    const mapper = {
      name: `odd-${index}`,
      protocol: 'openid-connect',
      protocolMapper,
      config: { ...config, 'access.token.claim': 'true' },
    };
    const made = await admin('POST', `/x/clients/${ids.client}/protocol-mappers/models`, mapper);
    assert.equal(made.status, 201);
    const fields = { grant_type: 'client_credentials', client_id: 'job', client_secret: 'job-secret' };
    const answer = await fetch(tokenUrl(service, 'x'), form(fields));
    assert.equal(answer.status, 200, protocolMapper);
    const { access_token: token } = (await answer.json()) as { access_token: string };
    assert.doesNotMatch(Buffer.from(token.split('.')[1]!, 'base64url').toString(), /function/);
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('rejects a client assertion with 400 if its alg is a name such as constructor or toString (RFC 7515 §4.1.1)', async () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const alg of ['constructor', 'toString', 'none']) {
    const assertion = `${encode({ alg })}.${encode({ sub: 'signer', iss: 'signer' })}.AAAA`;
    const answer = await fetch(
      tokenUrl(service, 'x'),
      form({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      }),
    );
    assert.equal(answer.status, 400, alg);
  }
});

test('decodes an escaped path only once', async () => {
  assert.equal((await admin('GET', '/x/authentication/flows/%25ff/executions')).status, 404);
});

test("only pages of the token's client may read responses of the administrative API (docs/keycloak/errors.md#cors)", async () => {
  const { body } = await loginAs(service, 'x', { username: 'alice', password: 'pw', client_id: 'web' });
  const ask = (origin: string, token = body['access_token']) =>
    fetch(`${service.address}/admin/realms/x/users/count`, {
      headers: { origin, authorization: `Bearer ${token}` },
    });
  const own = await ask('https://web.test');
  assert.equal(own.status, 200);
  assert.equal(own.headers.get('access-control-allow-origin'), 'https://web.test');
  assert.match(own.headers.get('access-control-expose-headers')!, /Location/);
  for (const other of [await ask('https://evil.test'), await ask('null'), await ask('https://web.test', 'x')])
    assert.equal(other.headers.get('access-control-allow-origin'), null);
});

test('truncates a name that is too long for an event', async () => {
  const { body } = await loginAs(service, 'x', { username: 'u'.repeat(20_000), password: 'pw' });
  assert.equal(body['error'], 'invalid_grant');
  const [line] = service.log.filter(({ message }) => message === 'LOGIN_ERROR').slice(-1);
  assert.equal((line!.fields['details'] as Record<string, string>)['username']!.length, 255);
});

test('admin events do not contain secrets of the representations that they record (docs/keycloak/admin-api.md#masking)', async () => {
  await admin('PUT', '/x', { adminEventsEnabled: true, adminEventsDetailsEnabled: true });
  await admin('PUT', '/x', { smtpServer: { host: 'mail.test', password: 'hidden-1' } });
  await admin('PUT', `/x/clients/${ids.client}`, { secret: 'hidden-2' });
  await admin('PUT', `/x/users/${ids.user}/reset-password`, { type: 'password', value: 'hidden-3' });
  await admin('POST', '/x/users', {
    username: 'new-one',
    credentials: [{ type: 'password', value: 'hidden-4' }],
  });
  const events = JSON.stringify((await admin('GET', '/x/admin-events')).json);
  assert.match(events, /mail\.test/);
  assert.doesNotMatch(events, /hidden-/);
  assert.doesNotMatch(service.logText(), /hidden-/);
  assert.doesNotMatch(await readMetrics(service), /hidden-/);
});

test('responds with 400 to a search with too many words, and names the parameter', async () => {
  for (const [parameter, value] of [
    ['search', 'a '.repeat(1000)],
    ['search', '"'.repeat(3000)],
    ['q', Array.from({ length: 1000 }, (_, index) => `k${index}:v`).join(' ')],
  ] as const)
    for (const path of ['users', 'users/count']) {
      const query = new URLSearchParams({ [parameter]: value });
      const { status, json } = await admin('GET', `/x/${path}?${query}`);
      assert.equal(status, 400);
      assert.equal(json.error_description, `Parameter ${parameter} has more than 50 terms`);
    }
  assert.equal((await admin('GET', '/x/users?search=%25_*%5c')).status, 200);
});
