import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import type { Service } from '../journey/idkit.ts';
import { openReplicas } from '../replicas/replicas.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { type Load, startLoad } from './refresh-load.ts';

const NGINX = '/usr/sbin/nginx';
const REPLICAS = 3;
const CLIENTS = 16;
/**
 * Milliseconds from one request of a client to its next. The kernel resets what comes in the very moment in which a
 * listener closes, and the more a machine is behind with its work, the longer that moment is.
 */
const PAUSE = 100;
/** Milliseconds between two looks at readiness. */
const LOOK = 250;

test('a rolling restart fails no request behind a proxy (issue: replicas)', {
  skip: missingPostgres() ?? missingNginx(),
}, async (t) => {
  const fleet = await startFleet(t);
  const proxy = await startNginx(t, fleet.ports);
  const load = await startLoad(CLIENTS, PAUSE, () => proxy);
  t.after(() => load.stop());
  await fleet.restartAll();
  await load.stop();
  await tellAndCheck(t, load);
});

test('a rolling restart fails no request of clients that follow readiness (issue: replicas)', {
  skip: missingPostgres(),
}, async (t) => {
  const fleet = await startFleet(t);
  const ready = new Set(fleet.ports);
  const looking = new AbortController();
  const looks = fleet.ports.map(async (port) => {
    while (!looking.signal.aborted) {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.status === 200) ready.add(port);
      else ready.delete(port);
      await sleep(LOOK);
    }
  });
  const load = await startLoad(CLIENTS, PAUSE, (client) => {
    const own = fleet.ports[client % REPLICAS]!;
    return `http://127.0.0.1:${ready.has(own) ? own : [...ready][client % ready.size]}`;
  });
  t.after(() => {
    looking.abort();
    return load.stop();
  });
  await fleet.restartAll(async (port) => {
    while (!ready.has(port)) await sleep(LOOK);
  });
  await load.stop();
  looking.abort();
  await Promise.all(looks);
  await tellAndCheck(t, load);
});

async function tellAndCheck(t: TestContext, load: Load): Promise<void> {
  const times = load.successes.map(({ at }) => at).toSorted((one, other) => one - other);
  const gap = Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  t.diagnostic(
    `${load.requests} requests, ${load.failures.length} failures, longest time without an answer ${Math.round(gap)} ms`,
  );
  assert.deepEqual(load.failures, []);
  assert.ok(load.requests > 500, `${load.requests} requests are a load`);
}

/** Replicas with ports of their own that they keep. */
async function startFleet(t: TestContext) {
  const server = await startPostgres(t);
  const replicas = await openReplicas(t, server);
  const ports = await Promise.all(Array.from({ length: REPLICAS }, freePort));
  const places = ports.map(() => replicas.makePlace());
  const start = (index: number): Promise<Service> =>
    replicas.start({
      place: places[index]!,
      // One of them has more than one process.
      argv: ['--port', String(ports[index]), ...(index === 1 ? ['--workers', '2'] : [])],
    });
  const running = [await start(0), ...(await Promise.all([start(1), start(2)]))];
  return {
    ports,
    /** @param seen waits until those who ask know that one is there again */
    restartAll: async (seen: (port: number) => Promise<void> = async () => {}) => {
      await sleep(500);
      for (const index of ports.keys()) {
        assert.equal(await running[index]!.stop(), 0);
        running[index] = await start(index);
        await seen(ports[index]!);
        await sleep(2 * LOOK);
      }
    },
  };
}

/** A proxy as README shows it, without TLS. @returns its address */
async function startNginx(t: TestContext, ports: readonly number[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-nginx-'));
  const port = await freePort();
  const servers = ports.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=2s;`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  );
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log;
     events { worker_connections 512; }
     http { access_log off; ${paths.join(' ')}
       upstream idkit { ${servers.join(' ')} keepalive 32; }
       server { listen 127.0.0.1:${port}; location / {
         proxy_pass http://idkit; proxy_http_version 1.1; proxy_set_header Connection "";
         proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; } } }\n`,
  );
  const child = spawn(NGINX, ['-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')], {
    stdio: 'inherit',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });
  const address = `http://127.0.0.1:${port}`;
  for (let tries = 0; (await fetch(`${address}/health`).catch(() => undefined))?.status !== 200; tries++) {
    assert.ok(tries < 200 && child.exitCode === null, 'nginx answers');
    await sleep(50);
  }
  return address;
}

function missingNginx(): string | undefined {
  if (existsSync(NGINX)) {
    execFileSync(NGINX, ['-v'], { stdio: 'ignore' });
    return undefined;
  }
  const missing = 'nginx is not installed (Debian package nginx-light)';
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(missing);
  return missing;
}
