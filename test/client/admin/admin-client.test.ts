import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AdminConnection, connectAdmin, revokeToken } from '../../../src/client/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { type Got, issuer, type Reply, startService } from '../token-service.ts';

const PASSWORD = 'swordfish-of-the-test';

function connection(baseUrl: string, more: Partial<AdminConnection> = {}): AdminConnection {
  return { baseUrl, username: 'admin', password: new Secret(PASSWORD), timeoutMilliseconds: 30_000, ...more };
}

function makeTokenFile(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-client-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, 'tokens', 'login.json');
}

/** A service that issues tokens and answers everything else with `admin`. */
function tokenService(t: TestContext, admin: (got: Got) => Reply = () => ({ json: [] }), lifetime = 300) {
  const issue = issuer(lifetime);
  return startService(t, (got) => (got.path.endsWith('/token') ? issue(got) : admin(got)));
}

async function fault(work: Promise<unknown>): Promise<IdkitError> {
  const error = await work.then(
    () => assert.fail('it is refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof IdkitError, String(error));
  assert.ok(!JSON.stringify([error.message, error.hints]).includes(PASSWORD), 'no password in an error');
  return error;
}

test('logs in with the password grant on master and admin-cli, and calls with the token', async (t) => {
  const service = await tokenService(t, () => ({ json: [{ realm: 'master', enabled: true }] }));
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.deepEqual(await admin.listRealms(), [{ realm: 'master', enabled: true }]);
  const [login, list] = service.got;
  assert.equal(login!.path, '/realms/master/protocol/openid-connect/token');
  assert.deepEqual(login!.form, {
    client_id: 'admin-cli',
    grant_type: 'password',
    username: 'admin',
    password: PASSWORD,
  });
  assert.equal(list!.path, '/admin/realms');
  assert.equal(list!.authorization, 'Bearer access-1');
});

test('keeps one login for many calls', async (t) => {
  const service = await tokenService(t, () => ({ json: 7 }));
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.equal(await admin.countUsers('a b'), 7);
  await Promise.all([1, 2, 3].map(() => admin.countUsers('x')));
  assert.equal(service.got.filter((got) => got.path.endsWith('/token')).length, 1);
  assert.equal(service.got[1]!.path, '/admin/realms/a%20b/users/count');
});

test('renews the token 30 s before it expires, once for parallel callers', async (t) => {
  const service = await tokenService(t, undefined, 29);
  const admin = await connectAdmin(connection(service.baseUrl));
  const tokens = await Promise.all([admin.accessToken(), admin.accessToken()]);
  assert.deepEqual(
    tokens.map((token) => token.reveal()),
    ['access-2', 'access-2'],
  );
  assert.deepEqual(service.got[1]!.form, {
    client_id: 'admin-cli',
    grant_type: 'refresh_token',
    refresh_token: 'refresh-1',
  });
});

test('logs in again if the service rejects the refresh token', async (t) => {
  const issue = issuer(29);
  const service = await startService(t, (got) =>
    got.form['grant_type'] === 'refresh_token'
      ? { status: 400, json: { error: 'invalid_grant' } }
      : issue(got),
  );
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.equal((await admin.accessToken()).reveal(), 'access-2');
  assert.deepEqual(
    service.got.map((got) => got.form['grant_type']),
    ['password', 'refresh_token', 'password'],
  );
});

test('renews a token that the service rejects once, and then reports the rejection', async (t) => {
  let refusals = 1;
  const service = await tokenService(t, () => {
    refusals -= 1;
    return refusals >= 0 ? { status: 401, json: { error: 'HTTP 401 Unauthorized' } } : { json: 3 };
  });
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.equal(await admin.countUsers('x'), 3);
  refusals = 99;
  assert.equal((await fault(admin.countUsers('x'))).code, 'IDKIT_CREDENTIALS');
});

test('stores the login in a file that only its owner can read, and resumes it', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  await connectAdmin(connection(service.baseUrl, { tokenFile }));
  assert.equal(statSync(tokenFile).mode & 0o777, 0o600);
  assert.ok(!readFileSync(tokenFile, 'utf8').includes(PASSWORD));
  const again = await connectAdmin(connection(service.baseUrl, { tokenFile }));
  assert.equal((await again.accessToken()).reveal(), 'access-1');
  assert.equal(service.got.length, 1);
  assert.deepEqual(readdirSync(join(tokenFile, '..')), ['login.json']);
});

test('ignores a stored login of another address or user, and one that others can read', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  await connectAdmin(connection(service.baseUrl, { tokenFile }));
  const other = await connectAdmin(connection(service.baseUrl, { tokenFile, username: 'root' }));
  assert.equal((await other.accessToken()).reveal(), 'access-2');
  chmodSync(tokenFile, 0o644);
  const third = await connectAdmin(connection(service.baseUrl, { tokenFile, username: 'root' }));
  assert.equal((await third.accessToken()).reveal(), 'access-3');
  writeFileSync(tokenFile, '{"owner":', { mode: 0o600 });
  chmodSync(tokenFile, 0o600);
  const fourth = await connectAdmin(connection(service.baseUrl, { tokenFile, username: 'root' }));
  assert.equal((await fourth.accessToken()).reveal(), 'access-4');
});

test('one of many clients with the same file renews, and the others use its token', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  const clients = await Promise.all(
    Array.from({ length: 8 }, () => connectAdmin(connection(service.baseUrl, { tokenFile }))),
  );
  const tokens = new Set(
    await Promise.all(clients.map(async (client) => (await client.accessToken()).reveal())),
  );
  assert.deepEqual([...tokens], ['access-1']);
  assert.equal(service.got.length, 1);
});

test('the lock of a process that died does not stop the next', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  await connectAdmin(connection(service.baseUrl, { tokenFile }));
  rmSync(tokenFile);
  writeFileSync(`${tokenFile}.lock`, '1');
  utimesSync(`${tokenFile}.lock`, new Date(0), new Date(0));
  await connectAdmin(connection(service.baseUrl, { tokenFile }));
  assert.equal(service.got.length, 2);
});

test('logout ends the session at the service and removes the file', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t, () => ({ status: 204 }));
  const admin = await connectAdmin(connection(service.baseUrl, { tokenFile }));
  await admin.logout();
  const last = service.got.at(-1)!;
  assert.equal(last.path, '/realms/master/protocol/openid-connect/logout');
  assert.deepEqual(last.form, { client_id: 'admin-cli', refresh_token: 'refresh-1' });
  assert.deepEqual(readdirSync(join(tokenFile, '..')), []);
});

test('reports an address without a service as IDKIT_UNREACHABLE', async () => {
  const error = await fault(connectAdmin(connection('http://127.0.0.1:1')));
  assert.equal(error.code, 'IDKIT_UNREACHABLE');
  assert.match(error.message, /^http:\/\/127\.0\.0\.1:1 is unreachable: /);
  const name = await fault(
    connectAdmin(connection('http://no-such-host.invalid', { timeoutMilliseconds: 2000 })),
  );
  assert.equal(name.code, 'IDKIT_UNREACHABLE');
});

test('reports a service that does not respond in time as IDKIT_UNREACHABLE', async (t) => {
  const service = await startService(t, () => ({ hang: true }));
  const error = await fault(connectAdmin(connection(service.baseUrl, { timeoutMilliseconds: 200 })));
  assert.equal(error.code, 'IDKIT_UNREACHABLE');
  assert.match(error.message, /no response within 0\.2 s/);
});

test('an interrupt ends a call with the reason of its signal', async (t) => {
  const service = await startService(t, () => ({ hang: true }));
  const controller = new AbortController();
  setTimeout(() => controller.abort(new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C')), 100);
  const error = await fault(connectAdmin(connection(service.baseUrl, { signal: controller.signal })));
  assert.equal(error.code, 'IDKIT_INTERRUPTED');
});

test('reports a rejected login as IDKIT_CREDENTIALS with the message of the service', async (t) => {
  const service = await startService(t, () => ({
    status: 401,
    json: { error: 'invalid_grant', error_description: 'Invalid user credentials' },
  }));
  const error = await fault(connectAdmin(connection(service.baseUrl)));
  assert.equal(error.code, 'IDKIT_CREDENTIALS');
  assert.match(error.message, /login of admin in realm master .* was rejected: Invalid user credentials/);
});

test('reports each error of the administrative API with its code and the message of the service (docs/keycloak/errors.md#error-shapes)', async (t) => {
  const cases: [reply: Reply, code: string, message: RegExp][] = [
    [
      { status: 403, json: { error: 'HTTP 403 Forbidden' } },
      'IDKIT_CREDENTIALS',
      /admin has no right to GET .*403 HTTP 403 Forbidden/,
    ],
    [{ status: 404, json: { error: 'Realm not found.' } }, 'IDKIT_NOT_FOUND', /Realm not found\./],
    [
      { status: 409, json: { errorMessage: 'Realm x already exists' } },
      'IDKIT_FAILED',
      /409: Realm x already exists/,
    ],
    [{ status: 400, json: { error: 'invalid_request', error_description: 'no' } }, 'IDKIT_FAILED', /400: no/],
    [
      { status: 501, json: { errorMessage: 'GET x is not built yet' } },
      'IDKIT_FAILED',
      /501: GET x is not built yet/,
    ],
    [{ status: 500, text: '<html>' }, 'IDKIT_FAILED', /500: <html>/],
    [{ status: 302, headers: { location: 'http://elsewhere.example/' } }, 'IDKIT_FAILED', /302/],
  ];
  for (const [reply, code, message] of cases) {
    const service = await tokenService(t, () => reply);
    const admin = await connectAdmin(connection(service.baseUrl));
    const error = await fault(admin.getRealm('x'));
    assert.equal(error.code, code);
    assert.match(error.message, message);
  }
});

test('distinguishes another kind of server from a wrong password', async (t) => {
  const cases: [reply: Reply, code: string][] = [
    [{ text: '<html>hello</html>' }, 'IDKIT_FAILED'],
    [{ json: { hello: 1 } }, 'IDKIT_FAILED'],
    [{ status: 404, json: { error: 'Realm does not exist' } }, 'IDKIT_NOT_FOUND'],
    [{ status: 404, text: 'not found' }, 'IDKIT_FAILED'],
    [{ status: 503, json: { error: 'starting' } }, 'IDKIT_UNREACHABLE'],
  ];
  for (const [reply, code] of cases) {
    const service = await startService(t, () => reply);
    assert.equal((await fault(connectAdmin(connection(service.baseUrl)))).code, code);
  }
});

test('refuses a response that has another shape than the API defines', async (t) => {
  const service = await tokenService(t, () => ({ json: { count: 3 } }));
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.match((await fault(admin.listRealms())).message, /is not a list of realms/);
  assert.match((await fault(admin.countUsers('x'))).message, /is not a number/);
  assert.match((await fault(admin.getRealm('x'))).message, /is not a realm/);
});

test('refuses a realm that is a path before it sends anything', async (t) => {
  const service = await tokenService(t);
  const admin = await connectAdmin(connection(service.baseUrl));
  for (const realm of ['.', '..', '']) {
    assert.equal((await fault(admin.getRealm(realm))).code, 'IDKIT_USAGE');
    assert.equal((await fault(admin.countUsers(realm))).code, 'IDKIT_USAGE');
  }
  await admin.getRealm('../x').catch(() => {});
  assert.equal(service.got.at(-1)!.path, '/admin/realms/..%2Fx');
});

test('revokes a token with the credentials of its client (RFC 7009 §2.1)', async (t) => {
  let reply: Reply = { status: 200 };
  const service = await startService(t, () => reply);
  const revocation = { baseUrl: service.baseUrl, realm: 'a', clientId: 'web', token: new Secret('abc') };
  await revokeToken(revocation);
  assert.equal(service.got[0]!.authorization, `Basic ${Buffer.from('web:').toString('base64')}`);
  assert.deepEqual(service.got[0]!.form, { token: 'abc' });
  reply = { status: 401, json: { error: 'invalid_client' } };
  assert.equal(
    (await fault(revokeToken({ ...revocation, clientSecret: new Secret('x') }))).code,
    'IDKIT_CREDENTIALS',
  );
  reply = { status: 400, json: { error: 'unsupported_token_type' } };
  assert.equal((await fault(revokeToken(revocation))).code, 'IDKIT_FAILED');
});
