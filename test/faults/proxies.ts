import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../free-port.ts';
import { waitUntil } from '../wait-until.ts';

/** A reverse proxy in front of replicas. Its configuration is the one in the documentation, without TLS. */
interface Proxy {
  program: string;
  file: string;
  argv(file: string, dir: string): readonly string[];
  render(port: number, replicas: readonly number[], dir: string): string;
}

export const PROXIES = {
  nginx: {
    program: '/usr/sbin/nginx',
    file: 'nginx.conf',
    argv: (file, dir) => ['-c', file, '-e', join(dir, 'error.log')],
    render: (
      port,
      replicas,
      dir,
    ) => `daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log;
      events { worker_connections 512; }
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
        upstream idkit {
          ${replicas.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=2s;`).join('\n')}
          keepalive 32;
        }
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://idkit;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $remote_addr;
          }
        }
      }\n`,
  },
  haproxy: {
    program: '/usr/sbin/haproxy',
    file: 'haproxy.cfg',
    argv: (file) => ['-f', file, '-db'],
    render: (port, replicas) => `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option redispatch 1
frontend public
  bind 127.0.0.1:${port}
  default_backend idkit
backend idkit
  option forwardfor
  option httpchk GET /health/ready
  default-server check inter 1s fall 1 rise 1
${replicas.map((one, index) => `  server idkit${index} 127.0.0.1:${one}`).join('\n')}\n`,
  },
  caddy: {
    program: '/usr/bin/caddy',
    file: 'Caddyfile',
    argv: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    render: (port, replicas) => `{
	admin off
	auto_https off
}
:${port} {
	bind 127.0.0.1
	reverse_proxy ${replicas.map((one) => `127.0.0.1:${one}`).join(' ')} {
		health_uri /health/ready
		health_interval 1s
		lb_try_duration 5s
	}
}\n`,
  },
} as const satisfies Record<string, Proxy>;

export type ProxyName = keyof typeof PROXIES;

/** Returns why a proxy cannot be tested here, or undefined if it can. */
export function missingProxy(name: ProxyName): string | undefined {
  const { program } = PROXIES[name];
  if (existsSync(program)) return undefined;
  const missing = `${program} is not installed (Debian package ${name === 'nginx' ? 'nginx-light' : name})`;
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(missing);
  return missing;
}

/**
 * Starts a proxy for replicas on these loopback ports. It ends with the test.
 *
 * @returns the proxy's address
 */
export async function startProxy(
  t: TestContext,
  name: ProxyName,
  replicas: readonly number[],
): Promise<string> {
  const proxy: Proxy = PROXIES[name];
  const dir = mkdtempSync(join(tmpdir(), `idkit-${name}-`));
  const port = await freePort();
  const file = join(dir, proxy.file);
  writeFileSync(file, proxy.render(port, replicas, dir));
  const child = spawn(proxy.program, proxy.argv(file, dir), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
  });
  let stderr = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      stderr += chunk;
    });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });
  const address = `http://127.0.0.1:${port}`;
  const leads = async () => {
    assert.equal(child.exitCode, null, `${name} runs: ${stderr}`);
    return (await fetch(`${address}/health`).catch(() => undefined))?.status === 200;
  };
  await waitUntil(`${name} leads to a replica`, leads, { every: 50, seen: () => stderr });
  return address;
}
