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
