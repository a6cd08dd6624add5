import { call, parseObject } from '../smoke/call.ts';
import { DoesNotApply, runCheck } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { realmUrl } from '../smoke/service.ts';
import type { RestoredService } from './check-canary.ts';

/**
 * Compares the published keys of each restored realm with those of the live service. A key that only the live service
 * has is newer than the set: tokens that it signed would be rejected after a restore.
 *
 * @param liveUrl undefined if the live service is not running
 */
export async function checkKeys(
  service: RestoredService,
  liveUrl: string | undefined,
  realms: readonly string[],
): Promise<readonly SmokeCheck[]> {
  const { signal } = service;
  const checks: SmokeCheck[] = [];
  for (const realm of realms) {
    const check = {
      id: 'published-keys',
      title: 'tokens of the live service verify with the restored keys',
      subject: realm,
      signal,
    };
    checks.push(
      await runCheck(check, async () => {
        if (liveUrl === undefined) throw new DoesNotApply('the live service is not running');
        const restored = await readKeyIds(service, realm);
        const live = await readKeyIds({ ...service, baseUrl: liveUrl }, realm).catch(() => undefined);
        if (live === undefined)
          throw new DoesNotApply('the live service does not publish keys of this realm');
        const newer = live.filter((id) => !restored.includes(id));
        if (newer.length > 0)
          throw new DoesNotApply(
            `the live service has keys that are newer than the set: ${newer.join(', ')}`,
          );
        return `the live service uses ${live.length} keys, and the restored one has all of them`;
      }),
    );
  }
  return checks;
}

async function readKeyIds(
  { baseUrl, signal, timeoutMilliseconds }: RestoredService,
  realm: string,
): Promise<readonly string[]> {
  const url = `${realmUrl({ baseUrl }, realm)}/protocol/openid-connect/certs`;
  const answer = await call(url, { signal, timeoutMilliseconds });
  if (answer.status !== 200) throw new Error(`the request for the keys returned ${answer.status}`);
  const { keys } = parseObject(answer, 'certs');
  if (!Array.isArray(keys))
    throw new Error('the response to the request for the keys contains no list of keys');
  return keys.map((key: { kid?: unknown }) => String(key.kid));
}
