import { IdkitError } from '../../core/index.ts';
import { parseObject, renderRefusal } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import type { SmokeCheck } from './options.ts';
import { realmUrl, type ServiceUnderTest } from './service.ts';

const REALM = 'master';
const CLIENT = 'admin-cli';

/**
 * Logs in as the administrator from `.env`, rotates the refresh token once and logs out, so smoke leaves no session.
 * With `deep` it also presents the rotated refresh token, which the service must reject.
 */
export async function checkAdministrator(service: ServiceUnderTest): Promise<SmokeCheck[]> {
  const { options } = service;
  let first: string | undefined;
  let current: string | undefined;
  const row = (id: string, title: string, test: () => Promise<string>) =>
    runCheck({ id, title, subject: REALM, signal: options.signal }, test);
  try {
    const checks = [
      await row('administrator-login', 'the administrator logs in', async () => {
        first = await login(service);
        current = first;
        return `${service.settings.administrator.username} with the password grant of ${CLIENT}`;
      }),
      await row('rotation', 'a refresh token is renewed', async () => {
        if (first === undefined)
          throw new DoesNotApply('there is no refresh token, because the login did not succeed');
        current = await rotate(service, first);
        if (current === first && (await rotates(service)))
          throw new Error('the service returned the same refresh token');
        return current === first
          ? 'renewed; the realm does not rotate refresh tokens'
          : 'replaced by a new one';
      }),
    ];
    if (options.deep !== true) return checks;
    const reuse = await row('reuse', 'a used refresh token is rejected', () =>
      presentUsed(service, first, current),
    );
    return [...checks, reuse];
  } finally {
    if (current !== undefined) await logout(service, current);
  }
}

async function login(service: ServiceUnderTest): Promise<string> {
  const { username, password } = service.settings.administrator;
  if (password === undefined) throw new DoesNotApply('IDKIT_ADMIN_PASSWORD is not set');
  return readRefreshToken(
    await token(service, { grant_type: 'password', username, password: password.reveal() }),
  );
}

async function rotate(service: ServiceUnderTest, refreshToken: string): Promise<string> {
  return readRefreshToken(await token(service, { grant_type: 'refresh_token', refresh_token: refreshToken }));
}

/** Presents a used refresh token. The service must reject it with 400 `invalid_grant`, and ends the session. */
async function presentUsed(
  service: ServiceUnderTest,
  used: string | undefined,
  current: string | undefined,
): Promise<string> {
  if (used === undefined || current === undefined)
    throw new DoesNotApply('there is no refresh token, because the login did not succeed');
  if (used === current || !(await rotates(service)))
    throw new DoesNotApply('the realm does not rotate refresh tokens');
  const answer = await token(service, { grant_type: 'refresh_token', refresh_token: used });
  if (answer.status !== 400)
    throw new Error(
      `the service responded with ${answer.status} to the used refresh token, but 400 was expected`,
    );
  const { error } = parseObject(answer, 'the token endpoint');
  if (error !== 'invalid_grant')
    throw new Error(`the service rejected the reuse with ${JSON.stringify(error)}`);
  return `refused: ${renderRefusal(answer)}`;
}

/**
 * Returns whether the realm rotates refresh tokens. idkit does so by default, Keycloak only if the realm's settings say
 * so. If the administrative API does not respond, returns true.
 */
async function rotates(service: ServiceUnderTest): Promise<boolean> {
  try {
    const realm = await service.admin?.getRealm(REALM);
    const maxReuse = realm?.['refreshTokenMaxReuse'];
    if (typeof maxReuse === 'number' && maxReuse > 0) return false;
    return realm?.['revokeRefreshToken'] !== false;
  } catch (error) {
    if (error instanceof IdkitError) return true;
    throw error;
  }
}

async function logout(service: ServiceUnderTest, refreshToken: string): Promise<void> {
  try {
    await service.call(`${realmUrl(service, REALM)}/protocol/openid-connect/logout`, {
      method: 'POST',
      form: { client_id: CLIENT, refresh_token: refreshToken },
    });
  } catch {
    service.options.reporter.note(
      'the smoke tests could not log out; their session will end at its idle timeout',
    );
  }
}

function token(service: ServiceUnderTest, form: Record<string, string>) {
  return service.call(`${realmUrl(service, REALM)}/protocol/openid-connect/token`, {
    method: 'POST',
    form: { client_id: CLIENT, ...form },
  });
}

function readRefreshToken(answer: Awaited<ReturnType<typeof token>>): string {
  if (answer.status !== 200) throw new Error(`the token endpoint responded with ${renderRefusal(answer)}`);
  const { refresh_token: refreshToken } = parseObject(answer, 'the token endpoint');
  if (typeof refreshToken !== 'string') throw new Error('the response has no refresh_token');
  return refreshToken;
}
