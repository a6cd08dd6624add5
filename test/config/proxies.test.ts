import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { renderNginx } from '../../src/config/compose/proxies.ts';
import { freePort } from '../free-port.ts';

const NGINX = '/usr/sbin/nginx';

test('what a client says of its way to the proxy does not reach the service', async (t) => {
  const missing = 'nginx is not installed (Debian package nginx-light)';
  if (!existsSync(NGINX)) {
    assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', missing);
    return t.skip(missing);
  }
  const dir = mkdtempSync(join(tmpdir(), 'idkit-nginx-'));
  const service = createServer((request, response) => response.end(JSON.stringify(request.headers)));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const port = await freePort();
  // As init writes it, but without the container around it and its TLS.
  const text = renderNginx('service')
    .replaceAll('http://service:8080', `http://127.0.0.1:${(service.address() as AddressInfo).port}`)
    .replaceAll('listen 8443 ssl', `listen 127.0.0.1:${port}`)
    .replaceAll(/^\s*ssl_.*$/gm, '')
    .replaceAll('/tmp/', `${dir}/`)
    .replaceAll('/dev/stdout', `${dir}/access.log`)
    .replaceAll('/dev/stderr', `${dir}/error.log`);
  writeFileSync(join(dir, 'nginx.conf'), text);
  const nginx = spawn(NGINX, ['-c', join(dir, 'nginx.conf'), '-g', 'daemon off;'], { stdio: 'ignore' });
  t.after(async () => {
    service.close();
    nginx.kill();
    if (nginx.exitCode === null) await once(nginx, 'exit');
    rmSync(dir, { recursive: true, force: true });
  });
  const told = await forge(`http://127.0.0.1:${port}/`, () => nginx.exitCode === null);
  assert.deepEqual(
    Object.entries(told).filter(([name]) => /forwarded/.test(name)),
    [
      ['x-forwarded-for', '127.0.0.1'],
      ['x-forwarded-proto', 'http'],
      ['x-forwarded-host', `127.0.0.1:${port}`],
    ],
  );
});

async function forge(url: string, runs: () => boolean): Promise<IncomingHttpHeaders> {
  const headers = {
    forwarded: 'for=6.6.6.6;host=evil',
    'x-forwarded-for': '6.6.6.6',
    'x-forwarded-host': 'evil',
    'x-forwarded-port': '666',
    'x-forwarded-prefix': '/evil',
    'x-forwarded-proto': 'gopher',
  };
  for (let tries = 0; tries < 400; tries++) {
    assert.ok(runs(), 'nginx runs');
    try {
      return (await (await fetch(url, { headers })).json()) as IncomingHttpHeaders;
    } catch {
      // It does not listen yet.
      await sleep(25);
    }
  }
  return assert.fail('nginx does not answer');
}
