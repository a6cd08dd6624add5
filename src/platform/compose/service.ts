import { ownVersion, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { startSeconds } from '../components.ts';
import type { ServiceHalf } from '../contract.ts';
import { askServerVersion } from '../keycloak/server-version.ts';
import { lastLine } from './call.ts';
import { type Container, listContainers, pausedFault } from './containers.ts';
import { nameOf, readDefinition, roleOf } from './definition.ts';
import type { Engine } from './engine.ts';
import { resolveImage } from './environment.ts';
import { lookAt, managementUrl, serviceUrl } from './health.ts';
import { type Project, partOf, startService } from './start.ts';

/** Seconds that a part gets to end by itself; a database that checkpoints needs them. */
const GRACE_SECONDS = 60;

/** The service of a platform in containers, and the parts around it. */
export function openComposeService(settings: Settings, engineOf: () => Promise<Engine>): ServiceHalf {
  const { project } = settings.compose;
  const open = async (staged?: string): Promise<Project> => {
    const definition = readDefinition(settings, staged);
    return { engine: await engineOf(), settings, definition };
  };
  const listOwn = async (): Promise<readonly Container[]> => listContainers(await engineOf(), project);
  const findService = async (): Promise<Container | undefined> => {
    const name = nameOf(settings, 'service');
    return (await listOwn()).find(({ service, state }) => service === name && state === 'running');
  };
  const startParts: ServiceHalf['startParts'] = async (role, options) => {
    const opened = await open(options.definition);
    const parts = [];
    for (const service of opened.definition.services.filter((one) => one.role === role))
      parts.push(await startService(opened, service, options));
    return parts;
  };

  return {
    describeService: () => ({
      runtime: 'compose',
      service: settings.service,
      serviceVersion: settings.service === 'keycloak' ? 'unknown' : ownVersion(),
    }),
    async askServiceVersion() {
      if (settings.service !== 'keycloak') return undefined;
      const container = await findService();
      const url = container === undefined ? undefined : serviceUrl(container);
      return url === undefined ? undefined : askServerVersion(settings, url);
    },
    async baseUrl() {
      const container = await findService();
      return container === undefined ? undefined : serviceUrl(container);
    },
    async managementUrl() {
      const container = await findService();
      return container === undefined ? undefined : managementUrl(container);
    },
    async start(signal = new AbortController().signal) {
      await startParts('service', { signal, timeoutSeconds: startSeconds(settings) });
    },
    stop: async () => undefined,
    async waitUntilReady(timeoutSeconds, signal = new AbortController().signal) {
      await startParts('service', { signal, timeoutSeconds });
    },

    async checkReplaceable() {
      // Restore stops what runs by itself; what it needs for that must be there.
      const engine = await engineOf();
      await engine.findCompose();
      const paused = (await listOwn()).find(({ state }) => state === 'paused');
      if (paused !== undefined) throw pausedFault(engine, paused);
    },
    startParts,
    async stopParts(role, { signal }) {
      const engine = await engineOf();
      const own = (await listOwn()).filter(({ service }) => roleOf(settings, service) === role);
      const ran = own.filter(({ state }) => state === 'running' || state === 'restarting');
      for (const { id, service } of own) {
        await must(engine, ['stop', '-t', String(GRACE_SECONDS), id], `${service} cannot be stopped`, signal);
        await must(engine, ['rm', '-f', id], `${service} cannot be removed`, signal);
      }
      return ran.map((container) =>
        partOf({ name: container.service, role, image: container.image }, container, { health: 'UP' }),
      );
    },
    async removeParts({ signal }) {
      const engine = await engineOf();
      const filter = `label=com.docker.compose.project=${project}`;
      const listed = await engine.call(['network', 'ls', '-q', '--filter', filter], { signal });
      for (const name of listed.stdout.split('\n').filter((line) => line !== ''))
        await must(engine, ['network', 'rm', name], `the network ${name} cannot be removed`, signal);
    },
    async listParts({ definition } = {}) {
      const { engine, definition: read } = await open(definition);
      const containers = await listOwn();
      return Promise.all(
        read.services.map(async (service) => {
          const container = containers.find((one) => one.service === service.name);
          const health =
            container === undefined
              ? ({ health: 'DOWN', detail: 'it has no container; idkit up starts it' } as const)
              : await lookAt({ engine, settings, container, role: service.role });
          const image = resolveImage(service.image, settings);
          return partOf({ ...service, image }, container, health);
        }),
      );
    },
  };
}

async function must(
  engine: Engine,
  args: readonly string[],
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const called = await engine.call(args, { signal, timeoutSeconds: GRACE_SECONDS * 2 });
  // One that is gone meanwhile is as it should be.
  if (called.code === 0 || /no such (container|network|volume)|no container with/i.test(called.stderr))
    return;
  throw new IdkitError('IDKIT_FAILED', `${what}: ${lastLine(called)}`);
}
