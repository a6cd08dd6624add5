import { writeFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Ended, makePlace, runIdkit } from '../journey/idkit.ts';
import type { KeycloakServer } from './keycloak-server.ts';

/** A platform directory whose service is a Keycloak that its operator runs. */
export interface OperatedPlatform {
  dir: string;
  /** Runs idkit on this platform. */
  idkit(argv: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
}

export const PASSPHRASE = 'backup-Passphrase-1';

/**
 * Creates a platform directory with `idkit.yaml`, and with `.env` if its lines are given in `env`. With
 * `commands: false`, `idkit.yaml` has no commands that start and stop Keycloak.
 */
export function makeOperatedPlatform(
  t: TestContext,
  keycloak: KeycloakServer,
  options: { env?: readonly string[]; commands?: boolean; lines?: readonly string[] } = {},
): OperatedPlatform {
  const dir = makePlace(t);
  const { commands = true, lines = [], env } = options;
  const yaml = [
    'service: keycloak',
    `database: ${keycloak.databaseUrl}`,
    `listen: { port: ${keycloak.port} }`,
    'keycloak:',
    `  managementUrl: ${keycloak.managementUrl}`,
    ...(commands
      ? [
          `  start: ${JSON.stringify(keycloak.startCommand)}`,
          `  stop: ${JSON.stringify(keycloak.stopCommand)}`,
        ]
      : []),
    ...lines,
    '',
  ];
  writeFileSync(join(dir, 'idkit.yaml'), yaml.join('\n'));
  if (env !== undefined) writeFileSync(join(dir, '.env'), `${env.join('\n')}\n`, { mode: 0o600 });
  return {
    dir,
    idkit: (argv, more = {}) =>
      runIdkit([...argv, '--dir', dir, '--json', ...(argv[0] === 'admin' ? ['--timeout', '120'] : [])], {
        cwd: dir,
        env: { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE, ...more },
      }),
  };
}

/** The address of a token service. */
export interface TokenService {
  baseUrl: string;
}

/** The response of a token service. */
export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/**
 * Posts a form to an endpoint of a realm. `host` is the host header: Keycloak's tokens contain it as their issuer,
 * and the service may have used another port when it issued them.
 */
export function postTo(
  { baseUrl }: TokenService,
  realm: string,
  endpoint: string,
  form: Record<string, string>,
  host = new URL(baseUrl).host,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = baseUrl.startsWith('https:') ? requestTls : requestPlain;
    const sent = request(
      `${baseUrl}/realms/${realm}/protocol/openid-connect/${endpoint}`,
      {
        method: 'POST',
        headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
        // Accept any certificate, because a proxy for localhost has a self-signed one.
        rejectUnauthorized: false,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', reject);
        answer.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: answer.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) });
        });
      },
    );
    sent.once('error', reject);
    sent.end(new URLSearchParams(form).toString());
  });
}
