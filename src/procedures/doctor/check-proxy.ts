import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isJsonObject } from '../../core/index.ts';
import { parseObject, renderRefusal } from '../smoke/call.ts';
import { DoesNotApply } from '../smoke/check.ts';
import { isLoopback } from './check-service.ts';
import { fault, type Patient } from './patient.ts';

/** An address that no client has (RFC 5737). A service that reports it believes whatever a client sends. */
const FORGED = '192.0.2.66';

/**
 * Logs in through the base URL with a forged `X-Forwarded-For`, and reads from the user session which address the
 * service saw. Ends the session.
 */
export async function checkProxyHeaders(patient: Patient, publicUrl: string): Promise<string> {
  const { settings } = patient;
  const { username, password } = settings.administrator;
  if (password === undefined) throw new DoesNotApply('IDKIT_ADMIN_PASSWORD is not set');
  const url = new URL(publicUrl);
  if (url.protocol !== 'https:' && !isLoopback(url))
    throw new DoesNotApply('the administrator’s password is not sent to a plain http address');
  const endpoint = `${publicUrl}/realms/master/protocol/openid-connect`;
  const form = { grant_type: 'password', client_id: 'admin-cli', username, password: password.reveal() };
  const logIn = (headers: Readonly<Record<string, string>>) =>
    patient.call(`${endpoint}/token`, { method: 'POST', form, headers });
  let answer = await logIn({ 'x-forwarded-for': FORGED });
  // A realm requires https for clients outside of private networks, such as the forged one.
  const isForgedRefused = answer.status === 403;
  if (isForgedRefused) answer = await logIn({});
  if (answer.status >= 500)
    throw fault(`${endpoint}/token responded with ${renderRefusal(answer)}; the log of the service says why`);
  if (answer.status !== 200)
    throw fault(`the administrator cannot log in at ${publicUrl}: ${renderRefusal(answer)}; check .env`);
  const tokens = parseObject(answer, `${endpoint}/token`);
  try {
    const address = isForgedRefused ? FORGED : await readAddress(patient, publicUrl, tokens);
    return judge(patient, url, address);
  } finally {
    if (typeof tokens['refresh_token'] === 'string')
      await patient.call(`${endpoint}/logout`, {
        method: 'POST',
        form: { client_id: 'admin-cli', refresh_token: tokens['refresh_token'] },
      });
  }
}

/** Returns the address that the service stored for the user session of a login. */
async function readAddress(
  patient: Patient,
  publicUrl: string,
  { access_token: token, session_state: session }: Readonly<Record<string, unknown>>,
): Promise<string> {
  const read = async (path: string): Promise<readonly Record<string, unknown>[]> => {
    const url = `${publicUrl}/admin/realms/master/users${path}`;
    const answer = await patient.call(url, { bearer: String(token) });
    const body: unknown = answer.status === 200 ? JSON.parse(answer.text) : undefined;
    if (answer.status >= 500)
      throw fault(`${url} responded with ${answer.status}; read the log of the service`);
    if (!Array.isArray(body)) throw new DoesNotApply(`${url} responded with ${answer.status}`);
    return body.filter(isJsonObject);
  };
  const { username } = patient.settings.administrator;
  const [user] = await read(`?username=${encodeURIComponent(username)}&exact=true`);
  if (user === undefined) throw new DoesNotApply(`the realm master has no user ${username}`);
  const sessions = await read(`/${encodeURIComponent(String(user['id']))}/sessions`);
  const address = sessions.find(({ id }) => id === session)?.['ipAddress'];
  if (typeof address !== 'string')
    throw new DoesNotApply('the service does not report the address of the session');
  return address;
}

function judge({ settings }: Patient, url: URL, address: string): string {
  const trusted = settings.trustedProxies.join(', ');
  const behindProxy = url.protocol === 'https:' && settings.listen.tlsCert === null;
  if (address === FORGED) {
    // Without a proxy, only programs on this machine can forge their address.
    if (isLoopback(url) && !behindProxy)
      return `the service believes X-Forwarded-For from this machine (trustedProxies: ${trusted})`;
    throw fault(
      `the service believes the X-Forwarded-For header of a client, so brute force protection can be evaded; the proxy must replace the header, and trustedProxies (${trusted === '' ? 'empty' : trusted}) must name only proxies`,
    );
  }
  const isOwn = Object.values(networkInterfaces())
    .flat()
    .some((one) => one?.address === address);
  if (behindProxy && settings.service === 'idkit' && settings.trustedProxies.length === 0 && !isLoopback(url))
    throw fault(
      `the service sees ${address} as the address of this client, which is probably the proxy; add the address of the proxy to trustedProxies`,
    );
  const own = isOwn
    ? ', an address of this machine'
    : isIP(address) === 0
      ? ', which is not an IP address'
      : '';
  return `the service saw ${address}${own}; it did not believe a forged X-Forwarded-For header`;
}
