import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVER_CORE, startPinned, stop } from './measure.ts';

/** The issuer does not depend on the port, so that seeded tokens remain valid after a restart. */
export const BASE_URL = 'http://bench.example.test';
export const ADMINISTRATOR = { username: 'admin', password: 'Bench-Admin-1' };

/** An `idkit serve` on one core, with the realms `rs` (RS256), `es` (ES256) and `guarded` (brute force protection). */
export interface BenchService {
  dir: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** The command that starts the built package. */
export interface Entry {
  command: string;
  args: readonly string[];
}

export function makeDirectory(): string {
  return mkdtempSync(join(process.env['IDKIT_BENCH_DIR'] ?? tmpdir(), 'idkit-bench-'));
}

export function removeDirectory(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

/** Starts the service on the server's core and waits until it is ready. */
export async function startService(
  entry: Entry,
  dir: string,
  env: NodeJS.ProcessEnv = {},
): Promise<BenchService> {
  const port = await freePort();
  const child = startPinned(
    SERVER_CORE,
    entry.command,
    [...entry.args, 'serve', '--dir', dir, '--port', String(port), '--base-url', BASE_URL],
    { IDKIT_ADMIN_USERNAME: ADMINISTRATOR.username, IDKIT_ADMIN_PASSWORD: ADMINISTRATOR.password, ...env },
  );
  const errors: string[] = [];
  child.stdout?.resume();
  child.stderr?.on('data', (chunk) => errors.push(String(chunk)));
  await untilReady(port, child, errors);
  return { dir, port, pid: child.pid as number, stop: () => stop(child) };
}

/** Timeout of a start in milliseconds. */
const READY_MS = 60_000;

/**
 * Waits until the service is ready.
 *
 * @param pauseMs pause between two requests in milliseconds
 * @throws Error with the last response and the output of `serve` if the service ends or is not ready in time
 */
export async function untilReady(
  port: number,
  child: ChildProcess,
  errors: string[] = [],
  pauseMs = 2,
): Promise<void> {
  const until = performance.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${errors.join('')}`);
    const signal = AbortSignal.timeout(READY_MS);
    const last = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal }).then(
      ({ status }) => status,
      (error: Error) => String(error.cause ?? error),
    );
    if (last === 200) return;
    if (performance.now() > until)
      throw new Error(`serve on port ${port} is not ready after ${READY_MS} ms: ${last}: ${errors.join('')}`);
    await pause(pauseMs);
  }
}

/** Creates the realms, their clients and a user. */
export async function makeRealms(port: number): Promise<void> {
  const token = await administratorToken(port);
  for (const [realm, algorithm] of [
    ['rs', 'RS256'],
    ['es', 'ES256'],
    ['guarded', 'RS256'],
  ] as const) {
    await post(port, token, '/admin/realms', {
      realm,
      enabled: true,
      defaultSignatureAlgorithm: algorithm,
      bruteForceProtected: realm === 'guarded',
      users: [
        {
          username: 'ada',
          enabled: true,
          email: 'ada@example.test',
          firstName: 'Ada',
          lastName: 'Bench',
          credentials: [{ type: 'password', value: 'Correct-Horse-1' }],
          realmRoles: [`default-roles-${realm}`],
        },
      ],
    });
    await post(port, token, `/admin/realms/${realm}/clients`, {
      clientId: 'job',
      publicClient: false,
      secret: 'job-secret',
      serviceAccountsEnabled: true,
    });
    await post(port, token, `/admin/realms/${realm}/clients`, {
      clientId: 'web',
      publicClient: true,
      directAccessGrantsEnabled: true,
      redirectUris: ['http://app.example.test/cb'],
    });
  }
}

/** Logs in as user `ada` at client `web`, `count` times, and returns the refresh tokens. */
export async function logIn(port: number, realm: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = await form(port, `/realms/${realm}/protocol/openid-connect/token`, {
      grant_type: 'password',
      client_id: 'web',
      username: 'ada',
      password: 'Correct-Horse-1',
    });
    tokens.push(String(body['refresh_token']));
  }
  return tokens;
}

/** Reads the generated secrets of a platform directory. */
export function readEnvironment(dir: string): Record<string, string> {
  const lines = readFileSync(join(dir, '.env'), 'utf8').split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1).replace(/^(['"])(.*)\1$/, '$2')];
      }),
  );
}

/** Returns an access token of the administrator. */
export async function administratorToken(port: number): Promise<string> {
  const body = await form(port, '/realms/master/protocol/openid-connect/token', {
    grant_type: 'password',
    client_id: 'admin-cli',
    ...ADMINISTRATOR,
  });
  return String(body['access_token']);
}

async function form(
  port: number,
  path: string,
  fields: Record<string, string>,
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  const body = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
  return body;
}

async function post(port: number, token: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
}

/** Returns a free port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
