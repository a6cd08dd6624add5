import { setTimeout as wait } from 'node:timers/promises';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Component, StartOptions } from '../contract.ts';
import { type Called, callProgram } from './call.ts';
import { composeFault } from './compose-fault.ts';
import { type Container, listContainers, pausedFault, readLog } from './containers.ts';
import type { DefinedService, Definition } from './definition.ts';
import type { Engine } from './engine.ts';
import { putStarted } from './engine.ts';
import { composeEnvironment, readFileVariables, resolveImage } from './environment.ts';
import { checkHealth, type Health, stateText } from './health.ts';
import { checkPrecedence, endOfPodman, findMadeBy, fingerprint, putMadeBy } from './podman.ts';

/** Pause in milliseconds between two checks of a component that is starting. The pause grows over time. */
const POLL_PAUSE = { least: 300, most: 1000 };

/**
 * Number of consecutive checks that must find a container stopped before it counts as ended, because the engine may be
 * about to restart it.
 */
const ENDED_CHECKS = 4;

/** After this many restarts by the engine, the start has failed. */
const MOST_RESTARTS = 3;

/** Number of log lines that a message shows. */
const LOG_LINES = 10;

/**
 * Keycloak logs a line for each check while it is not ready. These lines are removed, because they could hide important
 * lines.
 */
const ECHOED_CHECK = /\bSRHCK01001\b/;
const MOST_ECHOES = 500;

/** Time in seconds to wait for a container to stop by itself before it is replaced. */
const GRACE_SECONDS = 60;

/** Timeout in seconds of the compose program, which may have to fetch an image. */
const COMPOSE_SECONDS = 1800;

/** A platform in containers, and its engine. */
export interface Project {
  engine: Engine;
  settings: Settings;
  definition: Definition;
}

/**
 * Starts one service of the compose file and waits until it is UP. Throws the errors of
 * `PlatformService.startComponents`.
 */
export async function startContainer(
  project: Project,
  service: DefinedService,
  options: StartOptions,
): Promise<Component> {
  const began = performance.now();
  const before = await findContainer(project, service.name);
  if (before?.state === 'paused') throw pausedFault(project.engine, before);
  await noteFetch(project, service, options);
  const result = await composeUp(project, service, options.signal);
  let ended = 0;
  let firstRestarts: number | undefined;
  let health: Health = { health: 'DOWN', detail: 'it was not checked' };
  // Even if fetching an image took the whole time, the component gets half of the timeout to start.
  const patience = options.timeoutSeconds * 1000;
  const until = Math.max(began + patience, performance.now() + patience / 2);
  for (;;) {
    if (options.signal.aborted) throw options.signal.reason;
    const container = await findContainer(project, service.name);
    if (container === undefined) throw composeFault(project, service, result);
    const failed = result.code !== 0 && (project.engine.kind === 'docker' || container.state === 'created');
    // A running container with an older definition does not count as started: `podman-compose` never changes an
    // existing one.
    if (failed || (container.state === 'created' && container.error !== ''))
      throw composeFault(project, service, result, container);
    if (container.state === 'paused') throw pausedFault(project.engine, container);
    firstRestarts ??= container.restarts;
    ended = container.state === 'exited' || container.state === 'dead' ? ended + 1 : 0;
    if (ended >= ENDED_CHECKS) throw await ownFault(project, container, stateText(container));
    if (container.restarts - firstRestarts >= MOST_RESTARTS) {
      const why = `it ends and restarts repeatedly (${container.restarts} times, exit code ${container.exitCode})`;
      throw await ownFault(project, container, why);
    }
    health = await checkHealth({ ...project, container, role: service.role });
    if (health.health === 'UP') {
      await putStarted(project.settings, project.engine);
      return componentOf(service, container, health);
    }
    if (performance.now() >= until) {
      const why = `it was not UP within ${options.timeoutSeconds} s: ${health.detail ?? 'the reason is unknown'}`;
      throw await ownFault(project, container, why, 'IDKIT_UNREACHABLE');
    }
    const { least, most } = POLL_PAUSE;
    await wait(Math.min(most, Math.max(least, (performance.now() - began) / 10)));
  }
}

/** Describes a container as a component of the platform. */
export function componentOf(
  { name, role, image }: Pick<DefinedService, 'name' | 'role' | 'image'>,
  container: Container | undefined,
  { health, detail }: Health,
): Component {
  return {
    name,
    role,
    image: container?.image ?? image,
    state: container?.state ?? 'absent',
    health,
    restarts: container?.restarts ?? 0,
    ...(detail === undefined ? {} : { detail }),
  };
}

async function findContainer({ engine, settings }: Project, name: string): Promise<Container | undefined> {
  const all = await listContainers(engine, settings.compose.project);
  return all.find(({ service }) => service === name);
}

/** Reports that the engine must fetch an image first. Compose programs report this only on a terminal. */
async function noteFetch(
  { engine, settings }: Project,
  { image }: DefinedService,
  { note, signal }: StartOptions,
): Promise<void> {
  if (note === undefined || image === '') return;
  const name = resolveImage(image, settings);
  // Images named localhost/… are built on this machine and cannot be fetched. If the image is missing, the next step
  // reports it.
  if (name.startsWith('localhost/')) return;
  const asked = await engine.call(['image', 'inspect', '--format', '{{.Id}}', name], { signal });
  if (asked.code !== 0)
    note(`${engine.kind} is fetching the image ${name}, because this machine does not have it`);
}

/**
 * Creates and starts the container unless it already matches the definition. The caller reads from the engine whether
 * this succeeded.
 */
async function composeUp(project: Project, service: DefinedService, signal: AbortSignal): Promise<Called> {
  const { engine, settings, definition } = project;
  const compose = await engine.findCompose();
  const isPlugin = compose.args.length > 0;
  const environment = { ...(isPlugin ? readFileVariables(settings) : {}), ...composeEnvironment(settings) };
  const where = [
    '-p',
    settings.compose.project,
    '-f',
    definition.file,
    ...(engine.kind === 'docker' ? ['--project-directory', definition.dir] : []),
    ...(isPlugin ? ['--env-file', '/dev/null'] : []),
  ];
  const up = () =>
    callProgram(compose.file, [...compose.args, ...where, 'up', '-d', '--no-deps', service.name], {
      env: environment,
      cwd: definition.dir,
      signal,
      timeoutSeconds: COMPOSE_SECONDS,
    });
  if (engine.kind === 'docker') return up();
  const all = { ...process.env, ...environment };
  checkPrecedence(compose, definition, service, all);
  const made = fingerprint(service, all);
  const before = await findContainer(project, service.name);
  if (before?.state === 'running') {
    const madeBy = await findMadeBy(settings, before.id);
    if (madeBy === undefined || madeBy === made) return { code: 0, stdout: '', stderr: '' };
    await engine.call(['stop', '-t', String(GRACE_SECONDS), before.id], {
      signal,
      timeoutSeconds: GRACE_SECONDS * 2,
    });
  }
  if (before !== undefined) await engine.call(['rm', '-f', before.id], { signal });
  const called = endOfPodman(await up());
  const there = await listContainers(engine, settings.compose.project);
  const after = there.find((container) => container.service === service.name);
  if (after !== undefined)
    await putMadeBy(
      settings,
      after.id,
      made,
      there.map(({ id }) => id),
    );
  return called;
}

/** Returns the error for a container that was started but did not become UP, with the last lines of its log. */
async function ownFault(
  { engine }: Project,
  container: Container,
  why: string,
  code: 'IDKIT_FAILED' | 'IDKIT_UNREACHABLE' = 'IDKIT_FAILED',
): Promise<IdkitError> {
  const read = await readLog(engine, container.id, LOG_LINES + MOST_ECHOES);
  const log = read.filter((line) => !ECHOED_CHECK.test(line)).slice(-LOG_LINES);
  return new IdkitError(code, `${container.service} did not come up: ${why}`, {
    hints: log.length === 0 ? ['its log is empty'] : log.map((line) => `log: ${line}`),
  });
}
