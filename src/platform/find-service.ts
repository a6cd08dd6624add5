import { listenUrl, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import type { ServiceHalf } from './contract.ts';

/**
 * The service's address for this machine (contract §3, "Finding the service"): where it says that it runs, else where
 * `listen` puts it. What containers run is not found by the default of `listen`: whatever else has that port must not
 * be given the administrator's password.
 *
 * @throws IDKIT_UNREACHABLE where no container serves and `listen` names no other place
 */
export async function findServiceUrl(
  settings: Settings,
  service: Pick<ServiceHalf, 'baseUrl'>,
): Promise<string> {
  const running = await service.baseUrl();
  if (running !== undefined) return running;
  const { listen, sources, runtime } = settings;
  const isNamed = ['listen.host', 'listen.port'].some((name) => (sources[name] ?? 'default') !== 'default');
  if (runtime === 'compose' && !isNamed)
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `no container of ${settings.service} runs that this machine reaches`,
      { hints: ['idkit up starts it; idkit status shows every part'] },
    );
  return listenUrl({ ...listen, tls: listen.tlsCert !== null });
}

/** The refusal of a procedure that needs the service stopped, with how to stop it. */
export function serviceRuns(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `the service runs at ${address}, and it must be stopped for this`,
    {
      hints: [
        'end idkit serve with Ctrl-C in its terminal, or stop its unit: systemctl stop idkit',
        'in containers: docker compose stop idkit, and idkit up afterwards',
      ],
    },
  );
}
