import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openHealth } from '../../../src/http/index.ts';
import {
  form,
  login,
  readMetrics,
  refresh,
  startTestService,
  type TestService,
  tokenUrl,
} from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

interface Report {
  status: string;
  checks: { name: string; status: string }[];
}

test('/health, /health/live, /health/ready and /health/started report UP at the base URL, also for HEAD (docs/keycloak/realms.md#health)', async () => {
  for (const path of ['/health', '/health/live', '/health/ready', '/health/started']) {
    const answer = await fetch(`${service.address}${path}`);
    assert.equal(answer.status, 200, path);
    assert.deepEqual(await answer.json(), { status: 'UP' }, `${path} shows everybody the status alone`);
    assert.equal((await fetch(`${service.address}${path}`, { method: 'HEAD' })).status, 200, path);
    const detailed = await fetch(`${service.managementUrl}${path}`);
    assert.equal(detailed.status, 200, path);
    assert.ok(Array.isArray(((await detailed.json()) as Report).checks), path);
    assert.equal((await fetch(`${service.managementUrl}${path}`, { method: 'HEAD' })).status, 200, path);
  }
});

test('/health/ready reports the checks of Keycloak 26.7 at the management listener (docs/keycloak/realms.md#health)', async () => {
  const report = (await (await fetch(`${service.managementUrl}/health/ready`)).json()) as Report;
  assert.deepEqual(
    report.checks.map((check) => check.name),
    ['Graceful Shutdown', 'Keycloak database connections async health check', 'Keycloak Initialized'],
  );
});

test('/health/ready reports DOWN with the time of the first failure while the store cannot write', async () => {
  let broken = true;
  const health = openHealth({
    isAccessTokenRevoked: async () => false,
    removeFamily: async () => {
      if (broken) throw new Error('disk I/O error');
      return { removed: false };
    },
  });
  health.markStarted();
  const down = await health.ready();
  assert.equal(down.status, 'DOWN');
  assert.match(down.checks[1]!.data!['Failing since']!, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}$/);
  broken = false;
  assert.equal((await health.ready()).status, 'UP');
  health.markStopping();
  assert.equal((await health.ready()).status, 'DOWN');
});

/** Returns the value of the first metric whose line begins with `start`, or undefined if there is no such line. */
async function metric(start: string): Promise<number | undefined> {
  const text = await readMetrics(service);
  const line = text.split('\n').find((candidate) => candidate.startsWith(start));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

test('counts requests by route pattern, never by path', async () => {
  await fetch(tokenUrl(service), form({ grant_type: 'x' }));
  const text = await readMetrics(service);
  assert.match(
    text,
    /http_server_requests_seconds_count\{method="POST",outcome="CLIENT_ERROR",status="400",uri="\/realms\/\{realm\}\/protocol\/openid-connect\/token"\} \d+/,
  );
  assert.match(text, /http_server_requests_seconds_bucket\{le="\+Inf",method="POST"/);
  assert.doesNotMatch(text, /uri="[^"]*master/);
});

test('counts user events by type, error, realm and client, with "unknown" for a client that does not exist', async () => {
  await fetch(
    tokenUrl(service),
    form({ grant_type: 'client_credentials', client_id: 'made-up-by-a-stranger', client_secret: 'x' }),
  );
  const text = await readMetrics(service);
  assert.match(
    text,
    /keycloak_user_events_total\{event="client_login",error="client_not_found",realm="master",client_id="unknown"\} 1/,
  );
  assert.doesNotMatch(text, /made-up-by-a-stranger/);
});

test('all failed logins of users share one error label, so that no metric reveals whether a user exists, is disabled or is locked', async () => {
  const { access_token: token } = await login(service);
  const users = `${service.address}/admin/realms/master/users`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const made = await fetch(users, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      username: 'ended',
      enabled: false,
      credentials: [{ type: 'password', value: 'Right-Password-1' }],
    }),
  });
  assert.equal(made.status, 201);
  for (const [username, password] of [
    ['nobody', 'x'],
    ['admin', 'wrong'],
    ['ended', 'Right-Password-1'],
  ])
    await fetch(
      tokenUrl(service),
      form({ grant_type: 'password', client_id: 'admin-cli', username: username!, password: password! }),
    );
  const lines = (await readMetrics(service))
    .split('\n')
    .filter((line) => line.startsWith('keycloak_user_events_total{event="login",error="'))
    .filter((line) => !line.includes('error=""'));
  assert.deepEqual(lines, [
    'keycloak_user_events_total{event="login",error="invalid_user_credentials",realm="master",client_id="admin-cli"} 3',
  ]);
});

test('exposes metrics of the event loop, the database and sessions', async () => {
  await login(service);
  const text = await readMetrics(service);
  for (const name of [
    'nodejs_eventloop_lag_seconds',
    'process_resident_memory_bytes',
    'idkit_database_bytes',
    'idkit_user_sessions',
    'idkit_token_families',
    'idkit_open_logins',
  ])
    assert.match(text, new RegExp(`^${name} \\d`, 'm'), name);
});

test('counts and logs the reuse of a refresh token, and stores an event', async () => {
  const { refresh_token: first } = await login(service);
  assert.equal((await refresh(service, first!)).status, 200);
  const before = (await metric('idkit_refresh_token_reuse_total{realm="master"}')) ?? 0;
  assert.equal((await refresh(service, first!)).status, 400);
  assert.equal(await metric('idkit_refresh_token_reuse_total{realm="master"}'), before + 1);
  const line = service.log.findLast((entry) => entry.fields['event'] === 'REFRESH_TOKEN_ERROR');
  assert.equal(line?.level, 'warn');
});

test('no log line contains a password, a secret or a token', async () => {
  const { access_token: access, refresh_token: refreshToken } = await login(service);
  await fetch(
    tokenUrl(service),
    form({ grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'Wrong-Secret-9' }),
  );
  const text = service.logText();
  for (const secret of [
    access!,
    refreshToken!,
    'Wrong-Secret-9',
    'Test-Admin-Password-1',
    'test-smoke-client-secret',
  ])
    assert.ok(!text.includes(secret), secret.slice(0, 12));
});
