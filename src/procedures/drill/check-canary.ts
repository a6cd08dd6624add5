import type { Canary, Settings } from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';
import { call, parseObject, renderRefusal } from '../smoke/call.ts';
import { DoesNotApply, runCheck } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { realmUrl } from '../smoke/service.ts';

/** The client of the login, which every realm of idkit and of Keycloak has. */
const CLIENT = 'admin-cli';

/** A restored service. */
export interface RestoredService {
  baseUrl: string;
  signal: AbortSignal;
  timeoutMilliseconds: number;
}

/**
 * Logs in as each user of `drill.canary` with the password that `.env` of the set contains, or else `.env` of the
 * platform, and logs out.
 *
 * @param service undefined if no service runs on the restored database
 */
export async function checkCanaries(
  service: RestoredService | undefined,
  live: Settings,
  restored: Settings,
  signal: AbortSignal,
): Promise<readonly SmokeCheck[]> {
  const password = restored.canaryPassword ?? live.canaryPassword;
  const checks: SmokeCheck[] = [];
  for (const canary of live.drill.canary) {
    const { realm, username } = canary;
    const check = {
      id: 'canary-login',
      title: `the canary user ${username} logs in`,
      subject: realm,
      signal,
    };
    checks.push(
      await runCheck(check, async () => {
        if (service === undefined) throw new DoesNotApply('the service was not started here');
        if (password === undefined) throw new Error('IDKIT_CANARY_PASSWORD is not set');
        return logIn(service, canary, password);
      }),
    );
  }
  return checks;
}

async function logIn(
  service: RestoredService,
  { realm, username }: Canary,
  password: Secret,
): Promise<string> {
  const { signal, timeoutMilliseconds } = service;
  const oidc = `${realmUrl(service, realm)}/protocol/openid-connect`;
  const post = (path: string, form: Record<string, string>) =>
    call(`${oidc}/${path}`, {
      method: 'POST',
      form: { client_id: CLIENT, ...form },
      signal,
      timeoutMilliseconds,
    });
  const answer = await post('token', { grant_type: 'password', username, password: password.reveal() });
  if (answer.status !== 200) throw new Error(`the token endpoint responded with ${renderRefusal(answer)}`);
  const { refresh_token: refreshToken } = parseObject(answer, 'the token endpoint');
  if (typeof refreshToken === 'string') await post('logout', { refresh_token: refreshToken });
  return `with the password grant of ${CLIENT}`;
}
