import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Settings } from '../../config/index.ts';
import { parseJsonObject, systemErrorCode } from '../../core/index.ts';
import type { ComponentRole } from '../contract.ts';
import { type Container, type PublishedPort, unpauseHint } from './containers.ts';
import type { Engine } from './engine.ts';

/** The health of a component. */
export interface Health {
  health: 'UP' | 'DOWN';
  /** Why the component is DOWN. */
  detail?: string;
}

/** The component to check, and the engine that runs it. */
export interface HealthCheck {
  engine: Engine;
  settings: Settings;
  container: Container;
  role: ComponentRole;
}

/** Timeout in milliseconds of one request. */
const PATIENCE = 5_000;

/** Maximum number of bytes that are read from a response. */
const LONGEST_ANSWER = 64 * 1024;

/** Ports inside a container on which services usually speak HTTP, the most likely first. */
const SERVICE_PORTS = [8080, 8443];

/** The port of Keycloak and idkit for health and metrics. */
const MANAGEMENT_PORT = 9000;

const UP: Health = { health: 'UP' };

/**
 * Checks a component from outside, depending on its role. The engine's own health checks are not enough, because Podman
 * without systemd never runs them. A component that is not running counts as DOWN.
 */
export async function checkHealth(check: HealthCheck): Promise<Health> {
  const { container, role } = check;
  if (container.state === 'paused')
    return down(`${stateText(container)}; ${unpauseHint(check.engine, container.id)}`);
  if (container.state !== 'running') return down(stateText(container));
  if (role === 'database') return checkDatabase(check);
  if (role === 'service') return checkService(check);
  return role === 'proxy' ? checkProxy(check) : checkApplication(check);
}

/** Returns the URL at which this machine reaches the service. */
export function serviceUrl(container: Container): string | undefined {
  const found =
    SERVICE_PORTS.map((inner) => container.ports.find((port) => port.inner === inner)).find(
      (port) => port !== undefined,
    ) ?? container.ports.find(({ inner }) => inner !== MANAGEMENT_PORT);
  return found === undefined ? undefined : urlOf(found, found.inner === 8443);
}

/** Returns the URL of health and metrics if they have their own port. */
export function managementUrl(container: Container): string | undefined {
  const found = container.ports.find(({ inner }) => inner === MANAGEMENT_PORT);
  return found === undefined ? undefined : urlOf(found, false);
}

function urlOf({ host, port }: PublishedPort, tls: boolean): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Checks the database over TCP, because the public Postgres image accepts connections on its socket before its first
 * start is complete.
 */
async function checkDatabase({ engine, container }: HealthCheck): Promise<Health> {
  const asked = await engine.call(['exec', container.id, 'pg_isready', '-q', '-h', '127.0.0.1'], {
    timeoutSeconds: 30,
  });
  return asked.code === 0 ? UP : down('Postgres does not accept connections yet');
}

async function checkService({ container, settings }: HealthCheck): Promise<Health> {
  const management = settings.keycloak.managementUrl ?? managementUrl(container);
  const url = (settings.service === 'keycloak' ? management : undefined) ?? serviceUrl(container);
  if (url === undefined) return down('it publishes no port on this machine, so its health is unknown');
  return expectUp(`${url}/health/ready`);
}

/** Checks that the proxy forwards requests to the service. The certificate of the proxy may be self-signed. */
async function checkProxy({ container, settings }: HealthCheck): Promise<Health> {
  const base = URL.parse(settings.baseUrl ?? '');
  const wanted = Number(base?.port || (base?.protocol === 'http:' ? 80 : 443));
  const port = container.ports.find((one) => one.port === wanted) ?? container.ports[0];
  if (port === undefined) return UP;
  const tls = base === null ? port.inner % 1000 === 443 : base.protocol === 'https:';
  const path = `${base?.pathname.replace(/\/$/, '') ?? ''}/realms/${encodeURIComponent(settings.smoke.realm)}`;
  const answer = await ask(`${urlOf(port, tls)}${path}`, base?.host);
  if (answer.status === undefined) return down(answer.fault);
  // If the realm does not exist, the service responds with 404, so this status also shows that the proxy works.
  if (answer.status === 200 || answer.status === 404) return UP;
  return down(`the proxy responds with ${answer.status} for ${path}`);
}

async function checkApplication({ engine, container, settings }: HealthCheck): Promise<Health> {
  const configured = settings.applications.find(({ name }) => name === container.service);
  if (configured?.health !== undefined) return expectUp(configured.health);
  if (container.health === undefined) return UP;
  if (container.health === 'healthy') return UP;
  // Podman can run a health check on request. Docker has no such command, so the result of its last periodic check
  // counts.
  if (engine.kind === 'docker') return down(`its health check reports ${container.health}`);
  const checked = await engine.call(['healthcheck', 'run', container.id], { timeoutSeconds: 60 });
  return checked.code === 0 ? UP : down('its health check fails');
}

async function expectUp(url: string): Promise<Health> {
  const answer = await ask(url, undefined);
  if (answer.status === undefined) return down(answer.fault);
  if (answer.status !== 200) return down(`${url} responds with ${answer.status}`);
  const report = parseJsonObject(answer.text);
  if (report === undefined) return down(`${url} responds with a body that is not JSON`);
  const { status } = report;
  return status === 'UP' ? UP : down(`${url} reports status ${JSON.stringify(status)}`);
}

type Answer = { status: number; text: string } | { status: undefined; fault: string };

/** Sends one GET request without secrets, and accepts any certificate. */
function ask(url: string, host: string | undefined): Promise<Answer> {
  const target = new URL(url);
  const name = (host ?? target.host).replace(/:\d+$/, '');
  const tls = target.protocol === 'https:';
  const options = {
    host: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port,
    path: target.pathname,
    headers: { host: host ?? target.host, accept: 'application/json' },
    signal: AbortSignal.timeout(PATIENCE),
    agent: false as const,
  };
  return new Promise((resolve) => {
    const fail = (error: Error) =>
      resolve({ status: undefined, fault: `${url} does not respond: ${explain(error)}` });
    const request = tls
      ? requestTls({ ...options, rejectUnauthorized: false, servername: name })
      : requestPlain(options);
    request.on('error', fail);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= LONGEST_ANSWER) chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    request.end();
  });
}

function explain(error: Error): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no response in time';
  return systemErrorCode(error) ?? error.message;
}

/** Describes the state of a container that is not running, for a message. */
export function stateText({ state, exitCode, error }: Container): string {
  if (state === 'exited' || state === 'dead')
    return `it ended with exit code ${exitCode}${error === '' ? '' : `: ${error}`}`;
  return error === '' ? `it is ${state}` : `it is ${state}: ${error}`;
}

function down(detail: string): Health {
  return { health: 'DOWN', detail };
}
