import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makePlatform, sendRaw, startTestService, type TestService } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

/** Sends a GET with this Host header and returns the status and the body. */
async function getAs(host: string, path = '/metrics'): Promise<{ status: number; text: string }> {
  const text = await sendRaw(
    service.managementUrl!,
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  );
  return { status: Number(text.split(' ')[1]), text };
}

test('the base URL responds with 404 to every spelling of /metrics', async () => {
  for (const path of ['/metrics', '/metrics/', '/%6detrics', '/metrics?x']) {
    const text = await sendRaw(
      service.address,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 404 /, path);
    assert.doesNotMatch(text, /process_start_time|keycloak_user_events/, path);
  }
});

test('metrics.public: true serves /metrics at the base URL too', async () => {
  const platform = makePlatform();
  appendFileSync(join(platform.dir, 'idkit.yaml'), 'metrics: { public: true }\n');
  const open = await startTestService({ platform });
  try {
    for (const url of [open.address, open.managementUrl!]) {
      const answer = await fetch(`${url}/metrics`);
      assert.equal(answer.status, 200, url);
      assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      assert.match(await answer.text(), /^process_start_time_seconds \d/m);
    }
    const report = await (await fetch(`${open.address}/health/ready`)).json();
    assert.deepEqual(report, { status: 'UP' }, 'the checks stay on the management listener');
  } finally {
    await open.stop();
    platform.remove();
  }
});

test('the management listener serves only metrics and health', async () => {
  for (const path of ['/', '/realms/master', '/admin/', '/admin/realms', '/metrics/x'])
    assert.equal((await fetch(`${service.managementUrl}${path}`)).status, 404, path);
  const posted = await fetch(`${service.managementUrl}/metrics`, { method: 'POST', body: 'x' });
  assert.equal(posted.status, 404);
});

test('the management listener rejects host names that an attacker could register (DNS rebinding)', async () => {
  const { host } = new URL(service.managementUrl!);
  for (const name of [
    host,
    'localhost',
    'LOCALHOST:9000',
    '[::1]:9000',
    'idkit',
    'idkit:9000',
    'idkit.internal',
  ])
    assert.equal((await getAs(name)).status, 200, name);
  for (const name of [
    'evil.example',
    'evil.example:9000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost.',
  ]) {
    for (const path of ['/metrics', '/health', '/health/ready', '/nothing']) {
      const { status, text } = await getAs(name, path);
      assert.equal(status, 421, `${name} ${path}`);
      assert.match(text, /use its IP address, or set listen\.managementHost/);
    }
  }
});

test('pages of other sites can neither read nor execute responses of the management listener', async () => {
  const answer = await fetch(`${service.managementUrl}/metrics`, {
    headers: { origin: 'http://evil.example' },
  });
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
});
