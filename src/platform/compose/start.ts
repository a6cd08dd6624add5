import { setTimeout as wait } from 'node:timers/promises';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { PlatformPart, StartOptions } from '../components.ts';
import { type Called, callProgram } from './call.ts';
import { composeFault } from './compose-fault.ts';
import { type Container, listContainers, pausedFault, readLog } from './containers.ts';
import type { DefinedService, Definition } from './definition.ts';
import type { Engine } from './engine.ts';
import { putStarted } from './engine.ts';
import { composeEnvironment, readFileVariables, resolveImage } from './environment.ts';
import { describeState, type Health, lookAt } from './health.ts';
import { checkPrecedence, endOfPodman, findMadeBy, fingerprint, putMadeBy } from './podman.ts';

/** Milliseconds between two looks at a part that starts: the longer it takes, the more seldom. */
const BETWEEN_LOOKS = { least: 300, most: 1000 };

/** Looks at an ended container before it counts as ended: an engine may be about to start it again. */
const ENDED_LOOKS = 4;

/** Starts by the engine itself after which a part will not come up by waiting. */
const MOST_RESTARTS = 3;

/** Lines of a log that a message shows. */
const LOG_LINES = 10;

/** Keycloak logs each look at its health that finds it not ready; so many lines may hide the last ones that tell. */
const ECHOED_LOOK = /\bSRHCK01001\b/;
const MOST_ECHOES = 500;

/** Seconds that a part gets to end by itself where it is made anew. */
const GRACE_SECONDS = 60;

/** Seconds that the compose program may take; it may have to fetch an image. */
const COMPOSE_SECONDS = 1800;

/** A platform in containers, and the engine that runs it. */
export interface Project {
  engine: Engine;
  settings: Settings;
  definition: Definition;
}

/** Starts one service of the compose file and waits until it is UP. See `PlatformParts.startParts`. */
export async function startService(
  project: Project,
  service: DefinedService,
  options: StartOptions,
): Promise<PlatformPart> {
  const began = performance.now();
  const before = await findContainer(project, service.name);
  if (before?.state === 'paused') throw pausedFault(project.engine, before);
  await tellFetch(project, service, options);
  const said = await composeUp(project, service, options.signal);
  let ended = 0;
  let firstRestarts: number | undefined;
  let health: Health = { health: 'DOWN', detail: 'it was not looked at' };
  // An image that had to be fetched has taken its time; the part still gets half of its own.
  const patience = options.timeoutSeconds * 1000;
  const until = Math.max(began + patience, performance.now() + patience / 2);
  for (;;) {
    if (options.signal.aborted) throw options.signal.reason;
    const container = await findContainer(project, service.name);
    if (container === undefined) throw composeFault(project, service, said);
    const failed = said.code !== 0 && (project.engine.kind === 'docker' || container.state === 'created');
    // One that runs by an older definition is no success; `podman-compose` never changes one.
    if (failed || (container.state === 'created' && container.error !== ''))
      throw composeFault(project, service, said, container);
    if (container.state === 'paused') throw pausedFault(project.engine, container);
    firstRestarts ??= container.restarts;
    ended = container.state === 'exited' || container.state === 'dead' ? ended + 1 : 0;
    if (ended >= ENDED_LOOKS) throw await ownFault(project, container, describeState(container));
    if (container.restarts - firstRestarts >= MOST_RESTARTS) {
      const why = `it ends and is started again over and over (${container.restarts} times, exit code ${container.exitCode})`;
      throw await ownFault(project, container, why);
    }
    health = await lookAt({ ...project, container, role: service.role });
    if (health.health === 'UP') {
      await putStarted(project.settings, project.engine);
      return partOf(service, container, health);
    }
    if (performance.now() >= until) {
      const why = `it was not UP within ${options.timeoutSeconds} s: ${health.detail ?? 'no reason is known'}`;
      throw await ownFault(project, container, why, 'IDKIT_UNREACHABLE');
    }
    const { least, most } = BETWEEN_LOOKS;
    await wait(Math.min(most, Math.max(least, (performance.now() - began) / 10)));
  }
}

/** A container as a part of the platform. */
export function partOf(
  { name, role, image }: Pick<DefinedService, 'name' | 'role' | 'image'>,
  container: Container | undefined,
  { health, detail }: Health,
): PlatformPart {
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

/** Compose programs fetch an image without a word where they have no terminal. */
async function tellFetch(
  { engine, settings }: Project,
  { image }: DefinedService,
  { note, signal }: StartOptions,
): Promise<void> {
  if (note === undefined || image === '') return;
  const name = resolveImage(image, settings);
  // Made on this machine or nowhere: its absence is told by what fails next.
  if (name.startsWith('localhost/')) return;
  const asked = await engine.call(['image', 'inspect', '--format', '{{.Id}}', name], { signal });
  if (asked.code !== 0) note(`${engine.kind} fetches the image ${name}, which is not on this machine`);
}

/**
 * Makes and starts the container where it is not there as the definition says. What counts is what the engine tells
 * afterwards.
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

/** A container that ran and did not come up, with the last lines of its log. */
async function ownFault(
  { engine }: Project,
  container: Container,
  why: string,
  code: 'IDKIT_FAILED' | 'IDKIT_UNREACHABLE' = 'IDKIT_FAILED',
): Promise<IdkitError> {
  const read = await readLog(engine, container.id, LOG_LINES + MOST_ECHOES);
  const log = read.filter((line) => !ECHOED_LOOK.test(line)).slice(-LOG_LINES);
  return new IdkitError(code, `${container.service} did not come up: ${why}`, {
    hints: log.length === 0 ? ['its log is empty'] : log.map((line) => `log: ${line}`),
  });
}
