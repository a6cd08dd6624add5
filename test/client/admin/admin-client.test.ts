import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AdminConnection, connectAdmin, revokeToken } from '../../../src/client/index.ts';
import { lockedFile } from '../../../src/config/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { waitUntil } from '../../wait-until.ts';
import { issuer, type ReceivedRequest, type Reply, startService } from '../token-service.ts';

const PASSWORD = 'swordfish-of-the-test';

function connection(baseUrl: string, more: Partial<AdminConnection> = {}): AdminConnection {
  return { baseUrl, username: 'admin', password: new Secret(PASSWORD), timeoutMilliseconds: 30_000, ...more };
}

function makeTokenFile(t: TestContext): NonNullable<AdminConnection['tokenFile']> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-client-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return lockedFile(join(dir, 'tokens', 'login.json'));
}

/** Starts a service that issues tokens, and responds to every other request with the reply of `admin`. */
function tokenService(
  t: TestContext,
  admin: (request: ReceivedRequest) => Reply = () => ({ json: [] }),
  lifetime = 300,
) {
  const issue = issuer(lifetime);
  return startService(t, (request) => (request.path.endsWith('/token') ? issue(request) : admin(request)));
}

async function fault(work: Promise<unknown>): Promise<IdkitError> {
  const error = await work.then(
    () => assert.fail('the call succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof IdkitError, String(error));
  assert.ok(
    !JSON.stringify([error.message, error.hints]).includes(PASSWORD),
    'the error contains the password',
  );
  return error;
}

test('logs in with the password grant of admin-cli in master, and sends the token with each call (RFC 6749 §4.3)', async (t) => {
  const service = await tokenService(t, () => ({ json: [{ realm: 'master', enabled: true }] }));
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.deepEqual(await admin.listRealms(), [{ realm: 'master', enabled: true }]);
  const [login, list] = service.requests;
  assert.equal(login?.path, '/realms/master/protocol/openid-connect/token');
  assert.deepEqual(login?.form, {
    client_id: 'admin-cli',
    grant_type: 'password',
    username: 'admin',
    password: PASSWORD,
  });
  assert.equal(list?.path, '/admin/realms');
  assert.equal(list?.authorization, 'Bearer access-1');
});

test('uses one login for many calls', async (t) => {
  const service = await tokenService(t, () => ({ json: 7 }));
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.equal(await admin.countUsers('a b'), 7);
  await Promise.all([1, 2, 3].map(() => admin.countUsers('x')));
  assert.equal(service.requests.filter((request) => request.path.endsWith('/token')).length, 1);
  assert.equal(service.requests[1]?.path, '/admin/realms/a%20b/users/count');
});

test('renews the token 30 s before it expires, with one refresh for all parallel callers', async (t) => {
  const service = await tokenService(t, undefined, 29);
  const admin = await connectAdmin(connection(service.baseUrl));
  const tokens = await Promise.all([admin.accessToken(), admin.accessToken()]);
  assert.deepEqual(
    tokens.map((token) => token.reveal()),
    ['access-2', 'access-2'],
  );
  assert.deepEqual(service.requests[1]?.form, {
    client_id: 'admin-cli',
    grant_type: 'refresh_token',
    refresh_token: 'refresh-1',
  });
});

test('logs in with the password if the service rejects the refresh token', async (t) => {
  const issue = issuer(29);
  const service = await startService(t, (request) =>
    request.form['grant_type'] === 'refresh_token'
      ? { status: 400, json: { error: 'invalid_grant' } }
      : issue(request),
  );
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.equal((await admin.accessToken()).reveal(), 'access-2');
  assert.deepEqual(
    service.requests.map((request) => request.form['grant_type']),
    ['password', 'refresh_token', 'password'],
  );
});

test('renews a rejected token once, and reports IDKIT_CREDENTIALS if the service rejects the new one too', async (t) => {
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
  assert.equal(statSync(tokenFile.path).mode & 0o777, 0o600);
  assert.ok(!readFileSync(tokenFile.path, 'utf8').includes(PASSWORD));
  const again = await connectAdmin(connection(service.baseUrl, { tokenFile }));
  assert.equal((await again.accessToken()).reveal(), 'access-1');
  assert.equal(service.requests.length, 1);
  assert.deepEqual(readdirSync(dirname(tokenFile.path)), ['login.json', 'login.lock']);
});

test('ignores a stored login if it is damaged, belongs to another address or user, or is readable by other users', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  await connectAdmin(connection(service.baseUrl, { tokenFile }));
  const other = await connectAdmin(connection(service.baseUrl, { tokenFile, username: 'root' }));
  assert.equal((await other.accessToken()).reveal(), 'access-2');
  chmodSync(tokenFile.path, 0o644);
  const third = await connectAdmin(connection(service.baseUrl, { tokenFile, username: 'root' }));
  assert.equal((await third.accessToken()).reveal(), 'access-3');
  writeFileSync(tokenFile.path, '{"owner":', { mode: 0o600 });
  chmodSync(tokenFile.path, 0o600);
  const fourth = await connectAdmin(connection(service.baseUrl, { tokenFile, username: 'root' }));
  assert.equal((await fourth.accessToken()).reveal(), 'access-4');
});

test('if many clients share a token file, one of them renews the token and the others use the new token', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  const clients = await Promise.all(
    Array.from({ length: 8 }, () => connectAdmin(connection(service.baseUrl, { tokenFile }))),
  );
  const tokens = new Set(
    await Promise.all(clients.map(async (client) => (await client.accessToken()).reveal())),
  );
  assert.deepEqual([...tokens], ['access-1']);
  assert.equal(service.requests.length, 1);
});

test('waits for a slow holder of the lock, however long ago it took the lock', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t);
  const holder = Promise.withResolvers<void>();
  const holding = tokenFile.lock(() => holder.promise);
  const lock = tokenFile.path.replace('.json', '.lock');
  await waitUntil('the lock is held', () => existsSync(lock));
  utimesSync(lock, new Date(0), new Date(0));
  const waiting = connectAdmin(connection(service.baseUrl, { tokenFile }));
  assert.equal(await Promise.race([waiting, sleep(500, 'still waiting')]), 'still waiting');
  assert.equal(service.requests.length, 0);
  holder.resolve();
  await holding;
  await waiting;
  assert.equal(service.requests.length, 1);
});

test('logout ends the session at the service and deletes the file', async (t) => {
  const tokenFile = makeTokenFile(t);
  const service = await tokenService(t, () => ({ status: 204 }));
  const admin = await connectAdmin(connection(service.baseUrl, { tokenFile }));
  await admin.logout();
  const last = service.requests.at(-1);
  assert.equal(last?.path, '/realms/master/protocol/openid-connect/logout');
  assert.deepEqual(last?.form, { client_id: 'admin-cli', refresh_token: 'refresh-1' });
  assert.deepEqual(readdirSync(dirname(tokenFile.path)), ['login.lock']);
});

test('reports IDKIT_UNREACHABLE with the address if no service listens there', async () => {
  const error = await fault(connectAdmin(connection('http://127.0.0.1:1')));
  assert.equal(error.code, 'IDKIT_UNREACHABLE');
  assert.match(error.message, /^http:\/\/127\.0\.0\.1:1 cannot be reached: /);
  const name = await fault(
    connectAdmin(connection('http://no-such-host.invalid', { timeoutMilliseconds: 2000 })),
  );
  assert.equal(name.code, 'IDKIT_UNREACHABLE');
});

test('reports IDKIT_UNREACHABLE if the service does not respond within the timeout', async (t) => {
  const service = await startService(t, () => ({ hang: true }));
  const error = await fault(connectAdmin(connection(service.baseUrl, { timeoutMilliseconds: 200 })));
  assert.equal(error.code, 'IDKIT_UNREACHABLE');
  assert.match(error.message, /no response within 0\.2 s/);
});

test('a call rejects with the reason of its signal if the signal aborts it', async (t) => {
  const service = await startService(t, () => ({ hang: true }));
  const controller = new AbortController();
  setTimeout(() => controller.abort(new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C')), 100);
  const error = await fault(connectAdmin(connection(service.baseUrl, { signal: controller.signal })));
  assert.equal(error.code, 'IDKIT_INTERRUPTED');
});

test('reports a rejected login as IDKIT_CREDENTIALS with the text of the service', async (t) => {
  const service = await startService(t, () => ({
    status: 401,
    json: { error: 'invalid_grant', error_description: 'Invalid user credentials' },
  }));
  const error = await fault(connectAdmin(connection(service.baseUrl)));
  assert.equal(error.code, 'IDKIT_CREDENTIALS');
  assert.match(error.message, /login of admin in realm master .* was refused: Invalid user credentials/);
});

test('maps each error of the administrative API to a code, with the text of the service', async (t) => {
  const cases: [reply: Reply, code: string, message: RegExp][] = [
    [
      { status: 403, json: { error: 'HTTP 403 Forbidden' } },
      'IDKIT_CREDENTIALS',
      /admin is not allowed to call GET .*403 HTTP 403 Forbidden/,
    ],
    [{ status: 404, json: { error: 'Realm not found.' } }, 'IDKIT_NOT_FOUND', /Realm not found\./],
    [
      { status: 409, json: { errorMessage: 'Realm x already exists' } },
      'IDKIT_FAILED',
      /^Realm x already exists \(GET .* returned 409\)$/,
    ],
    [
      { status: 400, json: { error: 'invalid_request', error_description: 'no' } },
      'IDKIT_FAILED',
      /^no \(.* returned 400\)$/,
    ],
    [
      { status: 501, json: { errorMessage: 'GET x is not supported' } },
      'IDKIT_FAILED',
      /^GET x is not supported \(.* returned 501\)$/,
    ],
    [{ status: 500, text: '<html>' }, 'IDKIT_FAILED', /^<html> \(.* returned 500\)$/],
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

test('distinguishes an address without a token service from a wrong password', async (t) => {
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

test('rejects a response that does not have the shape of the API', async (t) => {
  const service = await tokenService(t, () => ({ json: { count: 3 } }));
  const admin = await connectAdmin(connection(service.baseUrl));
  assert.match((await fault(admin.listRealms())).message, /a response that is not a list of realms/);
  assert.match((await fault(admin.countUsers('x'))).message, /a response that is not a number/);
  assert.match((await fault(admin.getRealm('x'))).message, /a response that is not a realm/);
});

test('rejects an empty realm name and the dot segments . and .. without sending a request', async (t) => {
  const service = await tokenService(t);
  const admin = await connectAdmin(connection(service.baseUrl));
  for (const realm of ['.', '..', '']) {
    assert.equal((await fault(admin.getRealm(realm))).code, 'IDKIT_USAGE');
    assert.equal((await fault(admin.countUsers(realm))).code, 'IDKIT_USAGE');
  }
  await admin.getRealm('../x').catch(() => {});
  assert.equal(service.requests.at(-1)?.path, '/admin/realms/..%2Fx');
});

test('revokes a token with the credentials of its client (RFC 7009 §2.1)', async (t) => {
  let reply: Reply = { status: 200 };
  const service = await startService(t, () => reply);
  const revocation = { baseUrl: service.baseUrl, realm: 'a', clientId: 'web', token: new Secret('abc') };
  await revokeToken(revocation);
  assert.equal(service.requests[0]?.authorization, `Basic ${Buffer.from('web:').toString('base64')}`);
  assert.deepEqual(service.requests[0]?.form, { token: 'abc' });
  reply = { status: 401, json: { error: 'invalid_client' } };
  assert.equal(
    (await fault(revokeToken({ ...revocation, clientSecret: new Secret('x') }))).code,
    'IDKIT_CREDENTIALS',
  );
  reply = { status: 400, json: { error: 'unsupported_token_type' } };
  assert.equal((await fault(revokeToken(revocation))).code, 'IDKIT_FAILED');
});
