import { setTimeout as sleep } from 'node:timers/promises';
import { fetchService } from '../../client/index.ts';
import { listenUrl, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import {
  type Component,
  type ComponentRole,
  type PlatformService,
  type ServiceInfo,
  type StartOptions,
  startSeconds,
} from '../contract.ts';
import { isReady } from '../embedded/ready.ts';
import { type OperatorCommand, runOperatorCommand } from './operator-command.ts';
import { askServerVersion } from './server-version.ts';

/** Pause in milliseconds between two checks of a service that is starting or stopping. */
const POLL_PAUSE = 200;
/** Timeout in milliseconds of one request. */
const REQUEST_TIMEOUT = 5_000;
/** Timeout of a stop in seconds. */
const STOP_SECONDS = 120;

/**
 * A Keycloak that the operator runs as a process. It listens on the address of `listen`. The commands in idkit.yaml
 * start and stop it, and its management address reports when it is ready. The platform has only this component, and a
 * restore leaves it running.
 */
export class KeycloakService implements PlatformService {
  readonly #settings: Settings;
  readonly #address: string;
  readonly #management: string | undefined;
  /** The start command, if it runs in the foreground. */
  #starting: OperatorCommand | undefined;

  constructor(settings: Settings) {
    const { keycloak, listen } = settings;
    this.#settings = settings;
    this.#address = listenUrl({ ...listen, tls: listen.tlsCert !== null });
    this.#management = keycloak.managementUrl?.replace(/\/+$/, '');
  }

  info(): ServiceInfo {
    return { runtime: 'embedded', service: 'keycloak', serviceVersion: 'unknown' };
  }

  async readVersion(): Promise<string | undefined> {
    return (await answers(this.#address)) ? askServerVersion(this.#settings, this.#address) : undefined;
  }

  async baseUrl(): Promise<string | undefined> {
    return (await answers(this.#address)) ? this.#address : undefined;
  }

  async managementUrl(): Promise<string | undefined> {
    return this.#management;
  }

  async canStart(): Promise<boolean> {
    return this.#settings.keycloak.start !== null || (await this.#isRunning());
  }

  async start(signal?: AbortSignal): Promise<void> {
    if (await this.#isRunning()) return;
    const { start } = this.#settings.keycloak;
    if (start === null) throw cannotStart(this.#address);
    const command = runOperatorCommand(this.#settings, 'start', start);
    this.#starting = command;
    const patience = startSeconds(this.#settings);
    const until = performance.now() + patience * 1000;
    const ended = command.ended.then(() => 'ended' as const);
    for (;;) {
      const event = await Promise.race([ended, sleep(POLL_PAUSE, 'polls' as const)]);
      if (event === 'ended') this.#starting = undefined;
      if (event === 'ended' || (await this.#isUp(until))) break;
      if (performance.now() < until && signal?.aborted !== true) continue;
      command.kill();
      signal?.throwIfAborted();
      throw notReady(this.#address, patience, command.tail());
    }
    command.release();
  }

  // Keycloak is a separate process and keeps serving after a restore, so nothing is stopped here.
  async stop(): Promise<void> {}

  async waitUntilReady(timeoutSeconds: number, signal?: AbortSignal): Promise<void> {
    const until = performance.now() + timeoutSeconds * 1000;
    while (!(await this.#isUp(until))) {
      signal?.throwIfAborted();
      if (performance.now() >= until)
        throw notReady(this.#management ?? this.#address, timeoutSeconds, this.#starting?.tail() ?? '');
      await sleep(POLL_PAUSE);
    }
  }

  async checkReplaceable(): Promise<void> {
    const { start, stop } = this.#settings.keycloak;
    if (start !== null && stop !== null) return;
    if (await this.#isRunning()) throw keycloakRuns(this.#address);
  }

  async startComponents(
    role: ComponentRole,
    { timeoutSeconds, signal }: StartOptions,
  ): Promise<readonly Component[]> {
    if (role !== 'service') return [];
    await this.start(signal);
    await this.waitUntilReady(timeoutSeconds, signal);
    return [await this.#inspect()];
  }

  async stopComponents(
    role: ComponentRole,
    { signal }: { signal: AbortSignal },
  ): Promise<readonly Component[]> {
    if (role !== 'service') return [];
    const before = await this.#inspect();
    const ran = before.state === 'running';
    const { stop } = this.#settings.keycloak;
    if (stop === null) {
      if (ran) throw keycloakRuns(this.#address);
      return [];
    }
    // The stop command always runs, because a Keycloak that is still starting does not respond yet. The command may
    // fail if Keycloak is not running.
    await runOperatorCommand(this.#settings, 'stop', stop).ended.catch((error: unknown) => {
      if (ran) throw error;
    });
    const until = performance.now() + STOP_SECONDS * 1000;
    while (await this.#isRunning()) {
      signal.throwIfAborted();
      if (performance.now() >= until)
        throw new IdkitError(
          'IDKIT_FAILED',
          `Keycloak still responds at ${this.#address}, ${STOP_SECONDS} s after keycloak.stop ended`,
        );
      await sleep(POLL_PAUSE);
    }
    return ran ? [before] : [];
  }

  async removeNetworks(): Promise<void> {}

  async listComponents(): Promise<readonly Component[]> {
    return [await this.#inspect()];
  }

  async #inspect(): Promise<Component> {
    const running = await this.#isRunning();
    const up = running && (await this.#isUp(performance.now() + REQUEST_TIMEOUT));
    return {
      name: 'keycloak',
      role: 'service',
      image: 'a process that the operator runs',
      state: running ? 'running' : 'exited',
      health: up ? 'UP' : 'DOWN',
      restarts: 0,
      ...(up ? {} : { detail: running ? 'it is not ready' : `nothing responds at ${this.#address}` }),
    };
  }

  async #isRunning(): Promise<boolean> {
    if (await answers(this.#address)) return true;
    return this.#management !== undefined && answers(this.#management);
  }

  /** Returns whether Keycloak is ready and serves its realms. */
  async #isUp(until: number): Promise<boolean> {
    if (this.#management !== undefined && !(await isReady(this.#management, until))) return false;
    return (await statusOf(`${this.#address}/realms/master`, until)) === 200;
  }
}

/** Returns whether a program accepts connections at the URL, even if it never sends a response. */
async function answers(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT);
  try {
    const response = await fetchService(url, { method: 'HEAD', headers: {}, signal });
    await response.text();
    return true;
  } catch {
    return signal.aborted;
  }
}

async function statusOf(url: string, until: number): Promise<number | undefined> {
  const milliseconds = Math.ceil(Math.max(1, Math.min(REQUEST_TIMEOUT, until - performance.now())));
  try {
    const signal = AbortSignal.timeout(milliseconds);
    const response = await fetchService(url, { method: 'GET', headers: {}, signal });
    await response.text();
    return response.status;
  } catch {
    // After any error the service counts as not ready yet. If it never becomes ready, the caller reports a timeout.
    return undefined;
  }
}

function keycloakRuns(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `Keycloak is running at ${address} and must be stopped first`,
    {
      hints: [
        'stop it, or set keycloak.stop and keycloak.start in idkit.yaml, so that idkit can stop and start it',
      ],
    },
  );
}

function cannotStart(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_UNREACHABLE',
    `Keycloak is not running at ${address}, and idkit cannot start it`,
    { hints: ['set keycloak.start in idkit.yaml, or start Keycloak yourself'] },
  );
}

function notReady(where: string, seconds: number, tail: string): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', `Keycloak was not ready at ${where} within ${seconds} s`, {
    hints: tail.split('\n').filter(Boolean),
  });
}
