import { ownVersion, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import {
  type Component,
  type ComponentRole,
  type PlatformService,
  type ServiceInfo,
  type StartOptions,
  startSeconds,
} from '../contract.ts';
import { askServerVersion } from '../keycloak/server-version.ts';
import { lastLine } from './call.ts';
import { checkOwner } from './check-owner.ts';
import { type Container, listContainers, pausedFault } from './containers.ts';
import { nameOf, readDefinition, roleOf } from './definition.ts';
import { type Engine, findOwnEngine } from './engine.ts';
import { resolveImage } from './environment.ts';
import { checkHealth, managementUrl, serviceUrl } from './health.ts';
import { componentOf, type Project, startContainer } from './start.ts';

/** Time in seconds to wait for a container to stop by itself. A database needs this time for its checkpoint. */
const GRACE_SECONDS = 60;

/** The containers of a platform with idkit's service or with Keycloak. The first call looks up the engine. */
export class ComposeService implements PlatformService {
  readonly #settings: Settings;
  #engine: Promise<Engine> | undefined;

  /** @throws IDKIT_SETTING if the database's address names no service of compose.yaml */
  constructor(settings: Settings) {
    nameOf(settings, 'database');
    this.#settings = settings;
  }

  /**
   * Finds the engine of this platform's containers.
   *
   * @throws IDKIT_VERSION, IDKIT_UNREACHABLE, IDKIT_SETTING if the project's containers belong to another platform
   */
  findEngine(): Promise<Engine> {
    this.#engine ??= (async () => {
      const engine = await findOwnEngine(this.#settings);
      await checkOwner(engine, this.#settings);
      return engine;
    })();
    return this.#engine;
  }

  info(): ServiceInfo {
    const { service } = this.#settings;
    const serviceVersion = service === 'keycloak' ? 'unknown' : ownVersion();
    return { runtime: 'compose', service, serviceVersion };
  }

  async readVersion(): Promise<string | undefined> {
    if (this.#settings.service !== 'keycloak') return undefined;
    const url = await this.baseUrl();
    return url === undefined ? undefined : askServerVersion(this.#settings, url);
  }

  async baseUrl(): Promise<string | undefined> {
    const container = await this.#findService();
    return container === undefined ? undefined : serviceUrl(container);
  }

  async managementUrl(): Promise<string | undefined> {
    const container = await this.#findService();
    return container === undefined ? undefined : managementUrl(container);
  }

  async canStart(): Promise<boolean> {
    return true;
  }

  async start(signal?: AbortSignal): Promise<void> {
    await this.waitUntilReady(startSeconds(this.#settings), signal);
  }

  // A container keeps serving after the restore has ended, so nothing is stopped here.
  async stop(): Promise<void> {}

  async waitUntilReady(timeoutSeconds: number, signal = new AbortController().signal): Promise<void> {
    await this.startComponents('service', { signal, timeoutSeconds });
  }

  async checkReplaceable(): Promise<void> {
    // A restore stops the containers itself. It only needs an engine that can start them again.
    const engine = await this.findEngine();
    await engine.findCompose();
    const paused = (await this.#listOwn()).find(({ state }) => state === 'paused');
    if (paused !== undefined) throw pausedFault(engine, paused);
  }

  async startComponents(role: ComponentRole, options: StartOptions): Promise<readonly Component[]> {
    const project = await this.#openProject(options.definition);
    const started: Component[] = [];
    for (const service of project.definition.services.filter((one) => one.role === role))
      started.push(await startContainer(project, service, options));
    return started;
  }

  async stopComponents(
    role: ComponentRole,
    { signal }: { signal: AbortSignal },
  ): Promise<readonly Component[]> {
    const engine = await this.findEngine();
    const own = (await this.#listOwn()).filter(({ service }) => roleOf(this.#settings, service) === role);
    const ran = own.filter(({ state }) => state === 'running' || state === 'restarting');
    for (const { id, service } of own) {
      await must(engine, ['stop', '-t', String(GRACE_SECONDS), id], `${service} cannot be stopped`, signal);
      await must(engine, ['rm', '-f', id], `${service} cannot be removed`, signal);
    }
    return ran.map((container) =>
      componentOf({ name: container.service, role, image: container.image }, container, { health: 'UP' }),
    );
  }

  async removeNetworks({ signal }: { signal: AbortSignal }): Promise<void> {
    const engine = await this.findEngine();
    const filter = `label=com.docker.compose.project=${this.#settings.compose.project}`;
    const listed = await engine.call(['network', 'ls', '-q', '--filter', filter], { signal });
    for (const name of listed.stdout.split('\n').filter((line) => line !== ''))
      await must(engine, ['network', 'rm', name], `the network ${name} cannot be removed`, signal);
  }

  async listComponents({ definition }: Pick<StartOptions, 'definition'> = {}): Promise<readonly Component[]> {
    const settings = this.#settings;
    const { engine, definition: read } = await this.#openProject(definition);
    const containers = await this.#listOwn();
    return Promise.all(
      read.services.map(async (service) => {
        const container = containers.find((one) => one.service === service.name);
        const health =
          container === undefined
            ? ({ health: 'DOWN', detail: 'it has no container; idkit up starts it' } as const)
            : await checkHealth({ engine, settings, container, role: service.role });
        const image = resolveImage(service.image, settings);
        return componentOf({ ...service, image }, container, health);
      }),
    );
  }

  async #openProject(staged: string | undefined): Promise<Project> {
    const definition = readDefinition(this.#settings, staged);
    return { engine: await this.findEngine(), settings: this.#settings, definition };
  }

  async #listOwn(): Promise<readonly Container[]> {
    return listContainers(await this.findEngine(), this.#settings.compose.project);
  }

  async #findService(): Promise<Container | undefined> {
    const name = nameOf(this.#settings, 'service');
    return (await this.#listOwn()).find(({ service, state }) => service === name && state === 'running');
  }
}

async function must(
  engine: Engine,
  args: readonly string[],
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const called = await engine.call(args, { signal, timeoutSeconds: GRACE_SECONDS * 2 });
  // The container may have been removed in the meantime.
  if (called.code === 0 || /no such (container|network|volume)|no container with/i.test(called.stderr))
    return;
  throw new IdkitError('IDKIT_FAILED', `${what}: ${lastLine(called)}`);
}
