import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Settings } from '../../config/index.ts';
import { systemErrorCode } from '../../core/index.ts';
import type { PartRole } from '../components.ts';
import { type Container, type PublishedPort, unpauseHint } from './containers.ts';
import type { Engine } from './engine.ts';

/** Whether a part is well at this moment. */
export interface Health {
  health: 'UP' | 'DOWN';
  /** Why not. */
  detail?: string;
}

/** What a look at a part works with. */
export interface Look {
  engine: Engine;
  settings: Settings;
  container: Container;
  role: PartRole;
}

/** Milliseconds that one look may take. */
const PATIENCE = 5_000;

/** Bytes of an answer that are read. */
const LONGEST_ANSWER = 64 * 1024;

/** Ports inside a container on which services speak HTTP to people and programs, the likeliest first. */
const SERVICE_PORTS = [8080, 8443];

/** Where Keycloak and idkit answer for their health apart from the service. */
const MANAGEMENT_PORT = 9000;

const UP: Health = { health: 'UP' };

/**
 * Looks at a part from outside, by what it is for: timers of an engine's own health checks may never fire (Podman
 * without systemd). A part that does not run is DOWN.
 */
export async function lookAt(look: Look): Promise<Health> {
  const { container, role } = look;
  if (container.state === 'paused')
    return down(`${describeState(container)}; ${unpauseHint(look.engine, container.id)}`);
  if (container.state !== 'running') return down(describeState(container));
  if (role === 'database') return lookAtDatabase(look);
  if (role === 'service') return lookAtService(look);
  return role === 'proxy' ? lookAtProxy(look) : lookAtApplication(look);
}

/** The address of the service for this machine. */
export function serviceUrl(container: Container): string | undefined {
  const found =
    SERVICE_PORTS.map((inner) => container.ports.find((port) => port.inner === inner)).find(
      (port) => port !== undefined,
    ) ?? container.ports.find(({ inner }) => inner !== MANAGEMENT_PORT);
  return found === undefined ? undefined : urlOf(found, found.inner === 8443);
}

/** Where health and metrics are, where that is a port of their own. */
export function managementUrl(container: Container): string | undefined {
  const found = container.ports.find(({ inner }) => inner === MANAGEMENT_PORT);
  return found === undefined ? undefined : urlOf(found, false);
}

function urlOf({ host, port }: PublishedPort, tls: boolean): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** By TCP: while it makes itself ready for the first time, Postgres of the public image answers on its socket alone. */
async function lookAtDatabase({ engine, container }: Look): Promise<Health> {
  const asked = await engine.call(['exec', container.id, 'pg_isready', '-q', '-h', '127.0.0.1'], {
    timeoutSeconds: 30,
  });
  return asked.code === 0 ? UP : down('Postgres does not accept connections yet');
}

async function lookAtService({ container, settings }: Look): Promise<Health> {
  const management = settings.keycloak.managementUrl ?? managementUrl(container);
  const url = (settings.service === 'keycloak' ? management : undefined) ?? serviceUrl(container);
  if (url === undefined) return down('it publishes no port on this machine, so its health cannot be asked');
  return expectUp(`${url}/health/ready`);
}

/** The proxy is up where it leads to the service. Its certificate may be one that nobody signed. */
async function lookAtProxy({ container, settings }: Look): Promise<Health> {
  const base = URL.parse(settings.baseUrl ?? '');
  const wanted = Number(base?.port || (base?.protocol === 'http:' ? 80 : 443));
  const port = container.ports.find((one) => one.port === wanted) ?? container.ports[0];
  if (port === undefined) return UP;
  const tls = base === null ? port.inner % 1000 === 443 : base.protocol === 'https:';
  const path = `${base?.pathname.replace(/\/$/, '') ?? ''}/realms/${encodeURIComponent(settings.smoke.realm)}`;
  const answer = await ask(`${urlOf(port, tls)}${path}`, base?.host);
  if (answer.status === undefined) return down(answer.fault);
  // A realm that is not there is the service's own answer.
  if (answer.status === 200 || answer.status === 404) return UP;
  return down(`${path} through it is answered ${answer.status}`);
}

async function lookAtApplication({ engine, container, settings }: Look): Promise<Health> {
  const configured = settings.applications.find(({ name }) => name === container.service);
  if (configured?.health !== undefined) return expectUp(configured.health);
  if (container.health === undefined) return UP;
  if (container.health === 'healthy') return UP;
  // Without its timer the check runs when it is asked for; Docker has the timer and not the command.
  if (engine.kind === 'docker') return down(`its health check says ${container.health}`);
  const checked = await engine.call(['healthcheck', 'run', container.id], { timeoutSeconds: 60 });
  return checked.code === 0 ? UP : down('its health check fails');
}

async function expectUp(url: string): Promise<Health> {
  const answer = await ask(url, undefined);
  if (answer.status === undefined) return down(answer.fault);
  if (answer.status !== 200) return down(`${url} answers ${answer.status}`);
  try {
    const { status } = JSON.parse(answer.text) as { status?: unknown };
    return status === 'UP' ? UP : down(`${url} says status ${JSON.stringify(status)}`);
  } catch {
    return down(`${url} answers something that is not JSON`);
  }
}

type Answer = { status: number; text: string } | { status: undefined; fault: string };

/** One GET that believes any certificate and sends nothing secret. */
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
      resolve({ status: undefined, fault: `${url} does not answer: ${explain(error)}` });
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
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no answer in time';
  return systemErrorCode(error) ?? error.message;
}

/** A container that does not run, in words. */
export function describeState({ state, exitCode, error }: Container): string {
  if (state === 'exited' || state === 'dead')
    return `it ended with exit code ${exitCode}${error === '' ? '' : `: ${error}`}`;
  return error === '' ? `it is ${state}` : `it is ${state}: ${error}`;
}

function down(detail: string): Health {
  return { health: 'DOWN', detail };
}
