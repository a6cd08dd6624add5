import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CADDYFILE, renderNginx } from '../../src/config/compose/proxies.ts';
import { freePort } from '../free-port.ts';
import { sendRaw } from '../http/service.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * The proxies that init can configure. `render` changes the configuration from init so that the proxy runs without a
 * container and without TLS.
 */
const PROXIES = {
  nginx: {
    program: '/usr/sbin/nginx',
    package: 'nginx-light',
    argv: (file: string) => ['-c', file, '-g', 'daemon off;'],
    render: (port: number, service: string, dir: string) =>
      renderNginx('service')
        .replaceAll('http://service:8080', `http://${service}`)
        .replaceAll('listen 8443 ssl', `listen 127.0.0.1:${port}`)
        .replaceAll(/^\s*ssl_.*$/gm, '')
        .replaceAll('/tmp/', `${dir}/`)
        .replaceAll('/dev/stdout', `${dir}/access.log`)
        .replaceAll('/dev/stderr', `${dir}/error.log`),
  },
  caddy: {
    program: '/usr/bin/caddy',
    package: 'caddy',
    argv: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
    render: (port: number, service: string) =>
      CADDYFILE.replace('https://{$SITE} {', `http://:${port} {\n\tbind 127.0.0.1`).replace(
        '{$SERVICE}',
        service,
      ),
  },
} as const;

/**
 * Starts a proxy in front of a service that responds with the request that it received. Returns the proxy's address.
 */
async function startProxy(t: TestContext, name: keyof typeof PROXIES): Promise<string | undefined> {
  const proxy = PROXIES[name];
  const missing = `${proxy.program} is not installed (Debian package ${proxy.package})`;
  if (!existsSync(proxy.program)) {
    assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', missing);
    t.skip(missing);
    return undefined;
  }
  const dir = mkdtempSync(join(tmpdir(), `idkit-${name}-`));
  const service = createServer(({ url, headers }, response) =>
    response.end(JSON.stringify({ url, headers })),
  );
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const port = await freePort();
  const file = join(dir, 'proxy.conf');
  const { port: inner } = service.address() as AddressInfo;
  writeFileSync(file, proxy.render(port, `127.0.0.1:${inner}`, dir));
  const child = spawn(proxy.program, proxy.argv(file), {
    stdio: 'ignore',
    env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
  });
  t.after(async () => {
    service.close();
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(dir, { recursive: true, force: true });
  });
  const address = `http://127.0.0.1:${port}`;
  await waitUntil(`${name} answers`, () => {
    assert.equal(child.exitCode, null, `${name} runs`);
    return fetch(address).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return address;
}

for (const name of ['nginx', 'caddy'] as const) {
  test(`${name} does not forward a client's own forwarding headers`, async (t) => {
    const address = await startProxy(t, name);
    if (address === undefined) return;
    const forged = {
      forwarded: 'for=6.6.6.6;host=evil',
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-host': 'evil',
      'x-forwarded-port': '666',
      'x-forwarded-prefix': '/evil',
      'x-forwarded-proto': 'gopher',
    };
    const { headers } = (await (await fetch(address, { headers: forged })).json()) as {
      headers: IncomingHttpHeaders;
    };
    const reached = Object.entries(headers).filter(([name]) => /forwarded/.test(name));
    assert.deepEqual(Object.fromEntries(reached), {
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(address).host,
    });
  });

  test(`${name} forwards all requests except those for metrics, however the path is spelled`, async (t) => {
    const address = await startProxy(t, name);
    if (address === undefined) return;
    const get = (path: string) =>
      sendRaw(address, `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    for (const path of [
      '/metrics',
      '/metrics/',
      '/metrics?name=x',
      '/%6detrics',
      '/metrics%2f',
      '//metrics',
      '/./metrics',
      '/realms/../metrics',
      '/realms/%2e%2e/metrics',
    ]) {
      const answer = await get(path);
      assert.match(answer, /^HTTP\/1\.1 404 /, path);
      assert.doesNotMatch(answer, /"url"/, path);
    }
    for (const path of ['/', '/health/ready', '/realms/metrics', '/metricsx'])
      assert.match(await get(path), /^HTTP\/1\.1 200 /, path);
  });
}
