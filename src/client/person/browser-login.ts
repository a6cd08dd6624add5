import { IdkitError } from '../../core/index.ts';
import type { KeptLogin } from '../admin/token-file.ts';
import type { ClientError } from '../application/client-error.ts';
import type { NativeSession } from '../application/native-session.ts';
import type { LoginRealm } from './login-service.ts';
import { openLoopback } from './loopback.ts';

/** Options of a login in the browser. */
export interface BrowserLogin extends LoginRealm {
  /** The name that the login page shows. */
  username?: string;
  /** Scopes to request in addition to `openid`. */
  scope?: string;
  /** The port of this machine to which the service redirects. Default: a free one. */
  port?: number;
  /** Whether plain http is allowed to every host. Default: false. */
  allowHttp?: boolean;
  /** Opens an address in the browser. */
  open(url: string): void | Promise<void>;
  /**
   * Returns an address that the person pastes: the one at which the browser stopped because it runs on another machine.
   * `signal` aborts when the login no longer needs it. Never resolves if the person pastes nothing.
   */
  paste?(redirectUri: string, signal: AbortSignal): Promise<string>;
}

/** A new login and the name of its user. */
export interface PersonLogin {
  login: KeptLogin;
  username: string;
}

/**
 * Logs in a person with the authorization code flow, PKCE and a redirect to this machine (RFC 8252). The promise resolves
 * when the person has logged in.
 *
 * @throws IDKIT_CREDENTIALS if the service refuses the login; IDKIT_PORT_TAKEN; IDKIT_UNREACHABLE; IDKIT_FAILED; the
 *   reason of `signal`
 */
export async function logInByBrowser(options: BrowserLogin): Promise<PersonLogin> {
  const { openNativeSession } = await import('../application/native-session.ts');
  const { baseUrl, realm, clientId, scope, username, signal } = options;
  const loopback = await openLoopback(options.port ?? 0);
  const finished = new AbortController();
  const stop = AbortSignal.any([finished.signal, ...(signal === undefined ? [] : [signal])]);
  let opened = '';
  const session = openNativeSession({
    issuer: `${baseUrl}/realms/${encodeURIComponent(realm)}`,
    clientId,
    redirectUri: loopback.redirectUri,
    ...(options.allowHttp === true ? { allowHttp: true } : {}),
    ...(scope === undefined ? {} : { scope }),
    openUrl: (url) => {
      opened = url;
    },
  });
  try {
    await session.login(username === undefined ? {} : { parameters: { login_hint: username } });
    const redirect = loopback.redirect(new URL(opened).searchParams.get('state') ?? '');
    await options.open(opened);
    const pasted = options.paste?.(loopback.redirectUri, stop);
    const arrived = await Promise.race([
      redirect,
      aborted(stop),
      ...(pasted === undefined ? [] : [pasted.then((address) => ({ address, respond: async () => {} }))]),
    ]);
    try {
      await session.completeLogin(arrived.address);
      const made = await readLogin(session);
      await arrived.respond({
        title: 'You are logged in',
        text: `idkit now has a session of ${made.username}. Close this window and return to the terminal.`,
      });
      return made;
    } catch (error) {
      const fault = loginFault(error as ClientError, options);
      await arrived.respond({ title: 'The login failed', text: `${fault.message}. Return to the terminal.` });
      throw fault;
    }
  } catch (error) {
    throw error instanceof Error && error.name === 'ClientError'
      ? loginFault(error as ClientError, options)
      : error;
  } finally {
    finished.abort(new IdkitError('IDKIT_FAILED', 'the login is over'));
    session.close();
    loopback.close();
  }
}

async function readLogin(session: NativeSession): Promise<PersonLogin> {
  const accessToken = await session.accessToken();
  const { refreshToken, state } = session;
  const user = state.name === 'logged_in' ? state.user : {};
  const name = user['preferred_username'] ?? user['email'] ?? user['sub'];
  return {
    // The session does not show when its tokens expire, so the first use renews them.
    login: { accessToken, accessExpiresAt: 0, ...(refreshToken === undefined ? {} : { refreshToken }) },
    username: String(name),
  };
}

/** Rejects with the reason of the signal when it aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function loginFault(error: Error, { baseUrl, clientId, realm }: BrowserLogin): Error {
  if (error.name !== 'ClientError') return error;
  const { code, error: reason, errorDescription } = error as ClientError;
  const text = errorDescription ?? reason ?? error.message;
  const options = { cause: error };
  if (code === 'unreachable') return new IdkitError('IDKIT_UNREACHABLE', error.message, options);
  if (reason === 'access_denied')
    return new IdkitError('IDKIT_CREDENTIALS', 'the login was cancelled in the browser', options);
  return new IdkitError(
    'IDKIT_CREDENTIALS',
    `the service refused the login of the client ${clientId} in realm ${realm} at ${baseUrl}: ${text}`,
    options,
  );
}
