import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initPlatform, loadSettings, type SettingFlags, type Settings } from '../../src/config/index.ts';
import { type RunningService, type ServeOptions, startService } from '../../src/service/index.ts';

/** The secrets in the .env file of every test platform. */
export const SECRETS = {
  IDKIT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  IDKIT_ADMIN_USERNAME: 'admin',
  IDKIT_ADMIN_PASSWORD: 'Test-Admin-Password-1',
  IDKIT_SMOKE_CLIENT_SECRET: 'test-smoke-client-secret',
} as const;

/** A temporary platform directory. */
export interface TestPlatform {
  dir: string;
  settings(flags?: SettingFlags): Promise<Settings>;
  remove(): void;
}

/** Creates a platform directory whose service listens on a free loopback port. */
export function makePlatform(): TestPlatform {
  const root = mkdtempSync(join(tmpdir(), 'idkit-test-'));
  const dir = join(root, 'platform');
  initPlatform(dir, { env: SECRETS });
  return {
    dir,
    settings: (flags = {}) =>
      loadSettings({
        dir,
        flags: { 'listen.port': '0', 'listen.managementPort': '0', ...flags },
        env: {},
        cwd: root,
      }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A log line of the service. */
export interface LogLine {
  level: 'info' | 'warn' | 'error';
  fields: Readonly<Record<string, unknown>>;
  message: string;
}

/** A running service, its log and its platform directory. */
export interface TestService extends RunningService {
  platform: TestPlatform;
  log: readonly LogLine[];
  /** The whole log of the service as text. */
  logText(): string;
  stop(): Promise<void>;
}

/** Starts the real service on the given platform, or on a new one by default. */
export async function startTestService(
  options: { platform?: TestPlatform; flags?: SettingFlags; serve?: ServeOptions } = {},
): Promise<TestService> {
  const platform = options.platform ?? makePlatform();
  const log: LogLine[] = [];
  const add = (level: LogLine['level']) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    log.push({ level, fields, message });
  };
  const service = await startService(await platform.settings(options.flags), {
    log: { info: add('info'), warn: add('warn'), error: add('error') },
    ...options.serve,
  });
  return {
    ...service,
    platform,
    log,
    logText: () => JSON.stringify(log),
    stop: async () => {
      await service.close();
      if (options.platform === undefined) platform.remove();
    },
  };
}

/** Returns the text of `/metrics` at the management listener. */
export async function readMetrics({ managementUrl }: Pick<RunningService, 'managementUrl'>): Promise<string> {
  const answer = await fetch(`${managementUrl}/metrics`);
  if (answer.status !== 200) throw new Error(`metrics: ${answer.status} ${await answer.text()}`);
  return answer.text();
}

/** Returns the options of fetch for a POST request with a form. */
export function form(fields: Readonly<Record<string, string>>): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  };
}

/** The URL of the token endpoint of a realm. */
export function tokenUrl(service: { address: string }, realm = 'master'): string {
  return `${service.address}/realms/${realm}/protocol/openid-connect/token`;
}

/** Requests tokens for the administrator with the password grant. */
export async function login(service: { address: string }): Promise<Record<string, string>> {
  const answer = await fetch(
    tokenUrl(service),
    form({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: SECRETS.IDKIT_ADMIN_USERNAME,
      password: SECRETS.IDKIT_ADMIN_PASSWORD,
    }),
  );
  const body = (await answer.json()) as Record<string, string>;
  if (answer.status !== 200) throw new Error(`login: ${answer.status} ${JSON.stringify(body)}`);
  return body;
}

export async function refresh(
  service: { address: string },
  refreshToken: string,
): Promise<{ status: number; body: Record<string, string> }> {
  const answer = await fetch(
    tokenUrl(service),
    form({ grant_type: 'refresh_token', client_id: 'admin-cli', refresh_token: refreshToken }),
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

/**
 * Sends raw bytes and returns the response. It reads until the server closes the connection, `milliseconds` have passed,
 * or the response matches `enough`.
 */
export async function sendRaw(
  address: string,
  bytes: string,
  { milliseconds = 30_000, enough }: { milliseconds?: number; enough?: RegExp } = {},
): Promise<string> {
  const url = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname, () => socket.write(bytes));
    let text = '';
    const timer = setTimeout(() => socket.destroy(), milliseconds);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough?.test(text)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}
