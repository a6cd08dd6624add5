import { listenUrl, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import type { PlatformService } from './contract.ts';

/**
 * Returns the URL at which this machine reaches the service: the one that the running service reports, or else the one
 * of `listen`. For containers, the default of `listen` is not used: another program may listen there, and it must not
 * receive the administrator's password.
 *
 * @throws IDKIT_UNREACHABLE if no container serves and the settings do not set `listen`
 */
export async function findServiceUrl(
  settings: Settings,
  service: Pick<PlatformService, 'baseUrl'>,
): Promise<string> {
  const running = await service.baseUrl();
  if (running !== undefined) return running;
  const { listen, sources, runtime } = settings;
  const isSet = ['listen.host', 'listen.port'].some((name) => (sources[name] ?? 'default') !== 'default');
  if (runtime === 'compose' && !isSet)
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `no container of ${settings.service} is running and reachable from this machine`,
      { hints: ['idkit up starts it; idkit status shows every component'] },
    );
  return listenUrl({ ...listen, tls: listen.tlsCert !== null });
}

/** Returns the error for a procedure that needs a stopped service. */
export function serviceRuns(address: string): IdkitError {
  return new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `the service is running at ${address} and must be stopped first`,
    {
      hints: [
        'end idkit serve with Ctrl-C in its terminal, or stop its unit: systemctl stop idkit',
        'in containers: stop its container with docker compose stop, and run idkit up afterwards',
      ],
    },
  );
}
