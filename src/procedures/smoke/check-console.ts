import { createHash, randomBytes } from 'node:crypto';
import { parseObject, renderRefusal, type ServiceResponse } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import type { SmokeCheck } from './options.ts';
import { realmUrl, type ServiceUnderTest } from './service.ts';

const REALM = 'master';
/** Client ID of the admin console, on idkit and on Keycloak 26. */
const CLIENT = 'security-admin-console';

/**
 * Logs in to the admin console like a browser: it loads the console's page, submits the login form and exchanges the
 * code with PKCE. Then it calls the administrative API once and logs out.
 */
export async function checkConsole(service: ServiceUnderTest): Promise<SmokeCheck[]> {
  const check = {
    id: 'console-login',
    title: 'the administrator logs in to the admin console',
    subject: REALM,
    signal: service.options.signal,
  };
  return [await runCheck(check, () => logIn(service))];
}

async function logIn(service: ServiceUnderTest): Promise<string> {
  const { username, password } = service.settings.administrator;
  if (password === undefined) throw new DoesNotApply('IDKIT_ADMIN_PASSWORD is not set');
  const browser = openBrowser(service);
  const page = await browser.get(`${service.baseUrl}/admin/${REALM}/console/`);
  if (page.status !== 200) throw new Error(`the request for the page of the console returned ${page.status}`);

  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const publicBase = await findPublicBase(service);
  const redirectUri = `${publicBase}/admin/${REALM}/console/`;
  const query = new URLSearchParams({
    client_id: CLIENT,
    redirect_uri: redirectUri,
    response_type: 'code',
    response_mode: 'query',
    scope: 'openid',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const oidc = `${realmUrl(service, REALM)}/protocol/openid-connect`;
  const shown = await browser.get(`${oidc}/auth?${query}`);
  if (shown.status !== 200)
    throw new Error(`the service responded with ${renderStatus(shown)} to the request for the login page`);
  const action = findAction(shown.text);
  if (action === undefined) throw new Error('the login page has no form kc-form-login');
  // The page contains the public address, which may be unreachable from this machine.
  const target = action.startsWith(publicBase) ? service.baseUrl + action.slice(publicBase.length) : action;
  if (!target.startsWith(`${service.baseUrl}/`))
    throw new Error('the login form would send the password to another address');
  const sent = await browser.post(target, { username, password: password.reveal(), credentialId: '' });
  const answer = readRedirect(sent, redirectUri);
  if (answer.get('state') !== state)
    throw new Error('the redirect after the login contains a different state');

  const tokens = await service.call(`${oidc}/token`, {
    method: 'POST',
    form: {
      grant_type: 'authorization_code',
      client_id: CLIENT,
      code: answer.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    },
  });
  if (tokens.status !== 200)
    throw new Error(`the token endpoint rejected the code: ${renderRefusal(tokens)}`);
  const { access_token: accessToken, refresh_token: refreshToken } = parseObject(
    tokens,
    'the token endpoint',
  );
  try {
    const realms = await service.call(`${service.baseUrl}/admin/realms?briefRepresentation=true`, {
      bearer: String(accessToken),
    });
    if (realms.status !== 200) throw new Error(`the administrative API responded with ${realms.status}`);
    return `${username} through the login form, with the code flow and PKCE of ${CLIENT}`;
  } finally {
    if (typeof refreshToken === 'string')
      await service.call(`${oidc}/logout`, {
        method: 'POST',
        form: { client_id: CLIENT, refresh_token: refreshToken },
      });
  }
}

/** Returns the base URL that browsers use, which is the beginning of the issuer. */
async function findPublicBase(service: ServiceUnderTest): Promise<string> {
  const answer = await service.call(`${realmUrl(service, REALM)}/.well-known/openid-configuration`);
  const { issuer } = parseObject(answer, 'discovery');
  const suffix = `/realms/${REALM}`;
  if (typeof issuer !== 'string' || !issuer.endsWith(suffix))
    throw new Error(`the issuer in the discovery document does not end in ${suffix}`);
  return issuer.slice(0, -suffix.length);
}

/** Sends requests with cookies like a browser. Does not follow redirects. */
function openBrowser(service: ServiceUnderTest) {
  const jar = new Map<string, string>();
  const send = async (url: string, form?: Record<string, string>): Promise<ServiceResponse> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await service.call(url, {
      ...(form === undefined ? {} : { method: 'POST', form }),
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined) jar.set(name, value ?? '');
    }
    return answer;
  };
  return {
    get: (url: string) => send(url),
    post: (url: string, form: Record<string, string>) => send(url, form),
  };
}

/** Returns the address of the login form. */
function findAction(page: string): string | undefined {
  const form = /<form\b[^>]*\bid="kc-form-login"[^>]*>/.exec(page)?.[0];
  return /\baction="([^"]+)"/.exec(form ?? '')?.[1]?.replaceAll('&amp;', '&');
}

/** Returns the parameters of the redirect to the console. @throws Error with the fault */
function readRedirect(sent: ServiceResponse, redirectUri: string): URLSearchParams {
  if (sent.status === 200)
    throw new Error(
      'the service showed the login form again: it rejected the password or needs another factor',
    );
  const location = sent.headers.get('location') ?? '';
  if (sent.status !== 302 || !location.startsWith(redirectUri)) {
    const more = location.includes('/login-actions/')
      ? 'the account has required actions'
      : renderStatus(sent);
    throw new Error(`the login did not lead to the console: ${more}`);
  }
  const parameters = new URL(location).searchParams;
  if (!parameters.has('code'))
    throw new Error(`the service rejected the login: ${parameters.get('error') ?? 'it returned no code'}`);
  return parameters;
}

function renderStatus({ status, headers }: ServiceResponse): string {
  const location = headers.get('location');
  return location === null ? String(status) : `${status} to ${location.split('?', 1)[0]}`;
}
