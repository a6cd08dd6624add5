import { pinCertificate } from '../../client/index.ts';
import {
  findHolders,
  type LockHolder,
  ownVersion,
  readLockHolder,
  type Settings,
} from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type RunningService, serviceLockFile } from '../../service/index.ts';
import { withoutParts } from '../components.ts';
import type { GateSign, ServiceHalf } from '../contract.ts';
import { serviceRuns } from '../find-service.ts';
import { isReady } from './ready.ts';

/** Milliseconds between two looks at `/health/ready`. */
const BETWEEN_LOOKS = 50;

/**
 * The service of the embedded platform. `start` runs it inside this process: one that outlived a killed restore would
 * hold the lock that the next one needs.
 */
export function openEmbeddedService(settings: Settings, sign?: GateSign): ServiceHalf {
  let running: RunningService | undefined;

  /** What the service that runs elsewhere tells of itself; its certificate is believed from now on. */
  const readHolder = async (): Promise<LockHolder | undefined> => {
    const file = serviceLockFile(settings);
    const holder = settings.database.kind === 'sqlite' ? await readLockHolder(file) : await findService(file);
    if (holder?.certificate !== undefined)
      for (const url of [holder.baseUrl, holder.managementUrl])
        if (url !== undefined) pinCertificate(new URL(url).origin, holder.certificate);
    return holder;
  };
  const baseUrl = async (): Promise<string | undefined> =>
    running === undefined ? (await readHolder())?.baseUrl : running.address;

  return {
    ...withoutParts(async () => {
      const address = await baseUrl();
      return address === undefined ? undefined : serviceRuns(address);
    }),
    describeService: () => ({ runtime: 'embedded', service: 'idkit', serviceVersion: ownVersion() }),
    baseUrl,
    managementUrl: async () => (running === undefined ? (await readHolder())?.managementUrl : undefined),

    async start() {
      if (running !== undefined) return;
      const { startService } = await import('../../service/index.ts');
      const listen = {
        host: '127.0.0.1',
        port: 0,
        managementPort: 'off' as const,
        managementHost: '127.0.0.1',
        tlsCert: null,
        tlsKey: null,
        drainSeconds: 0,
      };
      running = await startService(
        { ...settings, listen },
        { importDirectory: false, withoutLock: sign?.isShut() === true },
      );
    },
    async stop() {
      const service = running;
      running = undefined;
      await service?.close();
    },
    async waitUntilReady(timeoutSeconds) {
      const until = performance.now() + timeoutSeconds * 1000;
      for (;;) {
        const address = await baseUrl();
        if (address !== undefined && (await isReady(address, until))) return;
        if (performance.now() >= until)
          throw new IdkitError(
            'IDKIT_UNREACHABLE',
            `${address ?? 'the service'} was not ready within ${timeoutSeconds} s`,
          );
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
      }
    },
  };
}

/** Of the services of one directory on one Postgres database the newest that listens. */
async function findService(file: string): Promise<LockHolder | undefined> {
  const holders = (await findHolders(file)).filter(({ baseUrl }) => baseUrl !== undefined);
  return holders.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1)).at(-1);
}
