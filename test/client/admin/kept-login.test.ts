import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type AdminConnection,
  connectAdmin,
  endKeptSession,
  keepLogin,
  passwordLogin,
  readKeptLogin,
  removeKeptLogin,
} from '../../../src/client/index.ts';
import { lockedFile } from '../../../src/config/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { issuer, startService } from '../token-service.ts';

// A kept login has no password: the person is needed for a new one.

function makeConnection(
  t: TestContext,
  baseUrl: string,
): AdminConnection & Required<Pick<AdminConnection, 'tokenFile'>> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-kept-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return {
    baseUrl,
    realm: 'acme',
    clientId: 'idkit-cli',
    username: 'alice',
    timeoutMilliseconds: 60_000,
    tokenFile: lockedFile(join(dir, 'alice.json')),
    renewHint: 'run `idkit login --profile p`',
  };
}

const expired = { accessToken: 'access-0', accessExpiresAt: 0, refreshToken: 'refresh-0' };

async function fault(work: Promise<unknown>): Promise<IdkitError> {
  const error = await work.then(
    () => assert.fail('the call succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof IdkitError, String(error));
  return error;
}

test('renews an expired login with its refresh token and stores the new one', async (t) => {
  const service = await startService(t, issuer());
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  const admin = await connectAdmin(connection);
  assert.equal((await admin.accessToken()).reveal(), 'access-1');
  assert.deepEqual(service.requests[0]?.form, {
    client_id: 'idkit-cli',
    grant_type: 'refresh_token',
    refresh_token: 'refresh-0',
  });
  assert.equal(service.requests[0]?.path, '/realms/acme/protocol/openid-connect/token');
  assert.equal(readKeptLogin(connection)?.refreshToken, 'refresh-1');
});

test('reports an ended session as IDKIT_CREDENTIALS with the command that starts a new one', async (t) => {
  const service = await startService(t, () => ({
    status: 400,
    json: { error: 'invalid_grant', error_description: 'Session not active' },
  }));
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  const error = await fault(connectAdmin(connection));
  assert.equal(error.code, 'IDKIT_CREDENTIALS');
  assert.match(error.message, /^the session of alice at http.* has ended: Session not active$/);
  assert.deepEqual(error.hints, ['run `idkit login --profile p`']);
});

test('a login whose refresh token has expired is ended without a request', async (t) => {
  const service = await startService(t, issuer());
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, { ...expired, refreshExpiresAt: Date.now() - 1 });
  assert.match((await fault(connectAdmin(connection))).message, /has ended: the session has expired$/);
  assert.equal(service.requests.length, 0);
});

test('keeps the login if the service is unavailable', async (t) => {
  const service = await startService(t, () => ({ status: 503, json: { error: 'starting' } }));
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  assert.equal((await fault(connectAdmin(connection))).code, 'IDKIT_UNREACHABLE');
  assert.deepEqual(readKeptLogin(connection), expired);
});

test('an interrupt does not abort a refresh that was sent, because its response holds the only valid token', async (t) => {
  const interrupt = new AbortController();
  const issue = issuer();
  const service = await startService(t, (request) => {
    interrupt.abort(new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C'));
    return issue(request);
  });
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  const admin = await connectAdmin({ ...connection, signal: interrupt.signal });
  assert.equal(readKeptLogin(connection)?.refreshToken, 'refresh-1');
  assert.equal((await fault(admin.listRealms())).code, 'IDKIT_INTERRUPTED');
});

test('with a probe, sends no renewal to a service that does not respond', async (t) => {
  let hangs = true;
  const issue = issuer();
  const service = await startService(t, (request) => {
    if (hangs) return { hang: true };
    return request.path.endsWith('/token') ? issue(request) : {};
  });
  const connection = { ...makeConnection(t, service.baseUrl), probeMilliseconds: 100 };
  await keepLogin(connection, expired);
  assert.equal((await fault(connectAdmin(connection))).code, 'IDKIT_UNREACHABLE');
  assert.deepEqual(
    service.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /realms/acme'],
  );
  assert.equal(readKeptLogin(connection)?.refreshToken, 'refresh-0');
  hangs = false;
  await connectAdmin({ ...connection, probeMilliseconds: 60_000 });
  assert.equal(readKeptLogin(connection)?.refreshToken, 'refresh-1');
});

test('a token file of another address, realm, client or user is not used', async (t) => {
  const service = await startService(t, issuer());
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  for (const other of [
    { baseUrl: 'https://evil.example.test' },
    { realm: 'master' },
    { clientId: 'admin-cli' },
    { username: 'bob' },
  ])
    assert.equal(readKeptLogin({ ...connection, ...other }), undefined, JSON.stringify(other));
});

test('does not store a session again that another process has removed', async (t) => {
  const issue = issuer();
  const service = await startService(t, (request) =>
    request.path.endsWith('/token') ? issue(request) : { status: 401 },
  );
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  const admin = await connectAdmin(connection);
  await removeKeptLogin(connection);
  assert.equal(
    (await fault(admin.request({ method: 'GET', path: '/admin/realms' }))).code,
    'IDKIT_CREDENTIALS',
  );
  assert.equal(readKeptLogin(connection), undefined);
});

test('a removed login can be ended at the service', async (t) => {
  const service = await startService(t, () => ({ status: 204 }));
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, { ...expired, refreshToken: 'refresh-9' });
  const removed = await removeKeptLogin(connection);
  assert.equal(readKeptLogin(connection), undefined);
  await endKeptSession(connection, removed!);
  assert.deepEqual(service.requests.at(-1)?.form, { client_id: 'idkit-cli', refresh_token: 'refresh-9' });
});

test('ending a session that has already ended succeeds, and an unavailable service is reported', async (t) => {
  let status = 400;
  const service = await startService(t, () => ({ status, json: { error: 'invalid_grant' } }));
  const connection = makeConnection(t, service.baseUrl);
  await endKeptSession(connection, expired);
  status = 503;
  assert.equal((await fault(endKeptSession(connection, expired))).code, 'IDKIT_UNREACHABLE');
});

test('a password login sends the one-time password as totp, and shows neither in errors or files', async (t) => {
  const issue = issuer();
  let refused = true;
  const service = await startService(t, (request) =>
    refused ? { status: 401, json: { error: 'invalid_grant', error_description: 'no' } } : issue(request),
  );
  const connection = makeConnection(t, service.baseUrl);
  const secrets = { password: new Secret('swordfish'), totp: new Secret('123456') };
  const error = await fault(passwordLogin({ ...connection, ...secrets, scope: 'offline_access' }));
  assert.doesNotMatch(JSON.stringify([error.message, error.hints]), /swordfish|123456/);
  assert.deepEqual(service.requests[0]?.form, {
    client_id: 'idkit-cli',
    grant_type: 'password',
    username: 'alice',
    password: 'swordfish',
    totp: '123456',
    scope: 'offline_access',
  });
  refused = false;
  await keepLogin(connection, await passwordLogin({ ...connection, ...secrets }));
  assert.doesNotMatch(readFileSync(connection.tokenFile.path, 'utf8'), /swordfish|123456/);
});

test('a request cannot leave the administrative API or the address of the login', async (t) => {
  const service = await startService(t, (request) =>
    request.path.endsWith('/token') ? issuer()(request) : { json: {} },
  );
  const connection = makeConnection(t, service.baseUrl);
  await keepLogin(connection, expired);
  const admin = await connectAdmin(connection);
  for (const path of [
    '/admin/../realms/master',
    '/admin/%2e%2e/x',
    '/realms/master',
    '@evil.example/admin/',
    '.evil.example/admin/',
  ])
    assert.equal((await fault(admin.request({ method: 'GET', path }))).code, 'IDKIT_USAGE', path);
  const headers = { authorization: 'Bearer other' };
  await admin.request({ method: 'GET', path: '/admin/serverinfo', headers });
  assert.match(service.requests.at(-1)?.authorization ?? '', /^Bearer access-/);
});
