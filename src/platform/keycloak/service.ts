import { setTimeout as sleep } from 'node:timers/promises';
import { fetchService } from '../../client/index.ts';
import { listenUrl, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type PlatformPart, startSeconds } from '../components.ts';
import type { ServiceHalf } from '../contract.ts';
import { isReady } from '../embedded/ready.ts';
import { type OperatorCommand, runOperatorCommand } from './operator-command.ts';
import { askServerVersion } from './server-version.ts';

/** Milliseconds between two looks at a service that starts or stops. */
const BETWEEN_LOOKS = 200;
/** Milliseconds that one look may take. */
const LONGEST_LOOK = 5_000;
/** Seconds that a stop may take (spec "Limits": about 30-60 seconds). */
const STOP_SECONDS = 120;

/**
 * A Keycloak that the operator runs as a process: found where `listen` says, started and stopped by the commands of
 * idkit.yaml, ready when its management address says so. It is one part that runs on its own; a restore leaves it
 * running.
 */
export function openKeycloakService(settings: Settings): ServiceHalf {
  const { keycloak, listen } = settings;
  const address = listenUrl({ ...listen, tls: listen.tlsCert !== null });
  const management = keycloak.managementUrl?.replace(/\/+$/, '');
  /** A start command that stays in the foreground. */
  let starting: OperatorCommand | undefined;

  const isRunning = async () =>
    (await answers(address)) || (management !== undefined && (await answers(management)));

  /** Ready, and its realms can be reached. */
  const isUp = async (until: number) =>
    (management === undefined || (await isReady(management, until))) &&
    (await statusOf(`${address}/realms/master`, until)) === 200;

  const start = async (signal?: AbortSignal): Promise<void> => {
    if (await isRunning()) return;
    if (keycloak.start === null) throw cannotStart(address);
    const command = runOperatorCommand(settings, 'start', keycloak.start);
    starting = command;
    const patience = startSeconds(settings);
    const until = performance.now() + patience * 1000;
    const ended = command.ended.then(() => 'ended' as const);
    for (;;) {
      const next = await Promise.race([ended, sleep(BETWEEN_LOOKS, 'looks' as const)]);
      if (next === 'ended') starting = undefined;
      if (next === 'ended' || (await isUp(until))) break;
      if (performance.now() < until && signal?.aborted !== true) continue;
      command.kill();
      signal?.throwIfAborted();
      throw notReady(address, patience, command.tail());
    }
    command.release();
  };

  const waitUntilReady = async (timeoutSeconds: number, signal?: AbortSignal): Promise<void> => {
    const until = performance.now() + timeoutSeconds * 1000;
    while (!(await isUp(until))) {
      signal?.throwIfAborted();
      if (performance.now() >= until)
        throw notReady(management ?? address, timeoutSeconds, starting?.tail() ?? '');
      await sleep(BETWEEN_LOOKS);
    }
  };

  const describePart = async (): Promise<PlatformPart> => {
    const running = await isRunning();
    const up = running && (await isUp(performance.now() + LONGEST_LOOK));
    return {
      name: 'keycloak',
      role: 'service',
      image: 'a process of the operator',
      state: running ? 'running' : 'exited',
      health: up ? 'UP' : 'DOWN',
      restarts: 0,
      ...(up ? {} : { detail: running ? 'it is not ready' : `nothing answers at ${address}` }),
    };
  };

  return {
    async checkReplaceable() {
      if (keycloak.start !== null && keycloak.stop !== null) return;
      if (await isRunning()) throw keycloakRuns(address);
    },
    async startParts(role, { timeoutSeconds, signal }) {
      if (role !== 'service') return [];
      await start(signal);
      await waitUntilReady(timeoutSeconds, signal);
      return [await describePart()];
    },
    async stopParts(role, { signal }) {
      if (role !== 'service') return [];
      const before = await describePart();
      const ran = before.state === 'running';
      if (keycloak.stop === null) {
        if (ran) throw keycloakRuns(address);
        return [];
      }
      // One that still starts answers nowhere yet, and is stopped as well; a command may fail that finds none to stop.
      await runOperatorCommand(settings, 'stop', keycloak.stop).ended.catch((error: unknown) => {
        if (ran) throw error;
      });
      const until = performance.now() + STOP_SECONDS * 1000;
      while (await isRunning()) {
        signal.throwIfAborted();
        if (performance.now() >= until)
          throw new IdkitError(
            'IDKIT_FAILED',
            `Keycloak still answers at ${address}, ${STOP_SECONDS} s after keycloak.stop had ended`,
          );
        await sleep(BETWEEN_LOOKS);
      }
      return ran ? [before] : [];
    },
    removeParts: async () => undefined,
    listParts: async () => [await describePart()],
    describeService: () => ({ runtime: 'embedded', service: 'keycloak', serviceVersion: 'unknown' }),
    askServiceVersion: async () =>
      (await answers(address)) ? askServerVersion(settings, address) : undefined,
    baseUrl: async () => ((await answers(address)) ? address : undefined),
    managementUrl: async () => management,
    canStart: async () => keycloak.start !== null || (await isRunning()),
    start,
    // It runs on its own: what a restore started goes on serving.
    stop: async () => undefined,
    waitUntilReady,
  };
}

/** Something takes connections there. One that takes them and is silent is there as well. */
async function answers(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(LONGEST_LOOK);
  try {
    const answer = await fetchService(url, { method: 'HEAD', headers: {}, signal });
    await answer.arrayBuffer();
    return true;
  } catch {
    return signal.aborted;
  }
}

async function statusOf(url: string, until: number): Promise<number | undefined> {
  const milliseconds = Math.ceil(Math.max(1, Math.min(LONGEST_LOOK, until - performance.now())));
  try {
    const signal = AbortSignal.timeout(milliseconds);
    const answer = await fetchService(url, { method: 'GET', headers: {}, signal });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    // Whatever is wrong there, it does not answer yet; whoever waits says so in the end.
    return undefined;
  }
}

function keycloakRuns(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `Keycloak runs at ${address}, and it must be stopped for this`,
    {
      hints: ['stop it, or give keycloak.stop and keycloak.start in idkit.yaml, by which idkit does'],
    },
  );
}

function cannotStart(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_UNREACHABLE',
    `Keycloak does not run at ${address}, and idkit cannot start it`,
    {
      hints: ['give keycloak.start in idkit.yaml, or start it'],
    },
  );
}

function notReady(where: string, seconds: number, tail: string): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', `Keycloak was not ready at ${where} within ${seconds} s`, {
    hints: tail.split('\n').filter(Boolean),
  });
}
