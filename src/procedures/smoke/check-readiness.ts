import type { Settings } from '../../config/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { parseObject } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import type { SmokeCheck } from './options.ts';
import type { ServiceUnderTest } from './service.ts';

/** Checks that readiness reports UP. */
export async function checkReadiness(service: ServiceUnderTest): Promise<SmokeCheck[]> {
  const { settings, options } = service;
  const check = { id: 'readiness', title: 'readiness reports UP', signal: options.signal };
  return [
    await runCheck(check, async () => {
      const url = await healthUrl(settings, service.baseUrl, options.baseUrl);
      const answer = await service.call(`${url}/health/ready`);
      const { status } = parseObject(answer, '/health/ready');
      if (answer.status !== 200 || status !== 'UP') {
        throw new Error(`/health/ready responded with ${answer.status} and status ${JSON.stringify(status)}`);
      }
      return `${url}/health/ready`;
    }),
  ];
}

/**
 * Returns the base address of the health endpoint: idkit's base URL, or Keycloak's management listener.
 *
 * @throws DoesNotApply for a Keycloak whose management address is unknown
 */
export async function healthUrl(
  settings: Settings,
  baseUrl: string,
  flag: string | undefined,
): Promise<string> {
  if (settings.keycloak.managementUrl !== null) return settings.keycloak.managementUrl.replace(/\/+$/, '');
  if (settings.service === 'idkit') return baseUrl;
  const found = flag === undefined ? await (await openPlatform(settings)).service.managementUrl() : undefined;
  if (found === undefined) throw new DoesNotApply('keycloak.managementUrl is not set');
  return found;
}
