import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { parseObject } from '../smoke/call.ts';
import { DoesNotApply } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { describeDrift } from './check-database.ts';
import { checkProxyHeaders } from './check-proxy.ts';
import { fault, type Patient, TIMEOUT } from './patient.ts';

/** Checks the running service and the way that browsers take to it. */
export async function checkService(patient: Patient): Promise<readonly SmokeCheck[]> {
  const { settings, serviceUrl } = patient;
  const publicUrl = settings.baseUrl ?? serviceUrl;
  let offset: number | undefined;
  let isSilent = false;
  /** Skips a check that would only wait for a silent address again, or that needs a service that is not running. */
  const needPublic = async (): Promise<string> => {
    const url = needUrl(publicUrl);
    if (isSilent && url === serviceUrl) throw new DoesNotApply('the service does not respond');
    // Another machine may serve the base URL.
    if (serviceUrl === undefined)
      await patient.call(`${url}/realms/master`).catch(({ message }: Error) => {
        throw new DoesNotApply(`the service is not running on this machine, and ${message}`);
      });
    return url;
  };
  return [
    await patient.check('service', async () => {
      const url = needService(serviceUrl);
      const before = Date.now();
      const answer = await patient.call(`${url}/realms/master`).catch((error) => {
        isSilent = true;
        throw error;
      });
      const middle = (before + Date.now()) / 2;
      // The header has whole seconds, so it is half a second behind on average.
      const date = Date.parse(answer.headers.get('date') ?? '');
      if (Number.isFinite(date)) offset = Math.round(date + 500 - middle);
      if (answer.status !== 200) throw fault(`${url}/realms/master responded with ${answer.status}`);
      return `${url}, ${Math.round(Date.now() - before)} ms`;
    }),
    await patient.check('service-clock', async () => {
      if (offset === undefined) throw new DoesNotApply('the service does not send its time');
      return describeDrift(offset, 'service');
    }),
    await patient.check('base-url', async () => checkBaseUrl(patient)),
    await patient.check('dns', async () => checkDns(publicUrl)),
    await patient.check('tls', async () => checkTls(publicUrl)),
    await patient.check('issuer', async () => checkIssuer(patient, await needPublic())),
    await patient.check('cookies', async () => checkCookies(patient, await needPublic())),
    await patient.check('proxy-headers', async () => checkProxyHeaders(patient, await needPublic())),
  ];
}

function needService(url: string | undefined): string {
  if (url === undefined) throw new DoesNotApply('the service is not running');
  return url;
}

function needUrl(url: string | undefined): string {
  if (url === undefined) throw new DoesNotApply('baseUrl is not set, and the service is not running');
  return url;
}

/** True for a name or address of this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function checkBaseUrl({ settings, serviceUrl }: Patient): string {
  if (settings.baseUrl === null) {
    const { host } = settings.listen;
    if (['127.0.0.1', '::1', 'localhost'].includes(host))
      return `baseUrl is not set, so issuers begin with ${serviceUrl ?? 'the address that serve listens on'}`;
    throw fault(
      `baseUrl is not set, but serve listens on ${host}: issuers depend on the address; set baseUrl to the address that users open`,
    );
  }
  const url = new URL(settings.baseUrl);
  if (url.protocol === 'http:' && !isLoopback(url))
    throw fault(
      `${settings.baseUrl} is not https, so passwords and tokens can be read on the network; set baseUrl to an https address`,
    );
  return settings.baseUrl;
}

async function checkDns(publicUrl: string | undefined): Promise<string> {
  const { hostname } = new URL(needUrl(publicUrl));
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) throw new DoesNotApply(`${host} is an address`);
  try {
    const found = await lookup(host, { all: true });
    return `${host} is ${found.map(({ address }) => address).join(', ')}`;
  } catch (error) {
    throw fault(
      `${host} has no address (${error instanceof Error ? error.message : String(error)}); add a DNS record, or correct baseUrl`,
    );
  }
}

async function checkTls(publicUrl: string | undefined): Promise<string> {
  const url = new URL(needUrl(publicUrl));
  if (url.protocol !== 'https:') throw new DoesNotApply(`${url.origin} does not use TLS`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const seen = await handshake(host, Number(url.port) || 443);
  const text = `${seen.protocol}, ${seen.subject}, until ${seen.until}, issued by ${seen.issuer}`;
  if (Date.parse(seen.until) < Date.now()) throw fault(`${text}: the certificate has expired; replace it`);
  if (seen.refused === undefined) return text;
  // A development machine has a certificate that only this machine trusts.
  if (isLoopback(url))
    return `${text}; not trusted (${seen.refused}), as usual for an address of this machine`;
  throw fault(
    `${text}: clients reject it (${seen.refused}); send the whole chain of a trusted authority, or set NODE_EXTRA_CA_CERTS for a private one`,
  );
}

interface Handshake {
  protocol: string;
  subject: string;
  issuer: string;
  until: string;
  /** Why a client rejects the certificate. */
  refused?: string;
}

function handshake(host: string, port: number): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      timeout: TIMEOUT,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      const { authorized, authorizationError } = socket;
      const protocol = socket.getProtocol() ?? 'unknown';
      socket.destroy();
      if (certificate === undefined) reject(fault(`${host}:${port} sent no certificate`));
      else
        resolve({
          protocol,
          subject: certificate.subjectAltName ?? certificate.subject ?? 'without a name',
          issuer: certificate.issuer.replaceAll('\n', ', '),
          until: certificate.validToDate.toISOString(),
          ...(authorized ? {} : { refused: String(authorizationError) }),
        });
    });
    socket.once('timeout', () => socket.destroy(fault(`${host}:${port} does not respond in time`)));
    socket.once('error', (error) => reject(fault(`${host}:${port} does not speak TLS: ${error.message}`)));
  });
}

async function checkIssuer(patient: Patient, publicUrl: string): Promise<string> {
  const url = `${publicUrl}/realms/master/.well-known/openid-configuration`;
  const answer = await patient.call(url);
  if (answer.status !== 200)
    throw fault(`${url} responded with ${answer.status}; the proxy must forward every path of the base URL`);
  const { issuer } = parseObject(answer, url);
  if (issuer !== `${publicUrl}/realms/master`)
    throw fault(
      `the issuer is ${String(issuer)}, but clients expect ${publicUrl}/realms/master; set baseUrl and restart the service`,
    );
  return String(issuer);
}

/** Opens the login page of the console and reads its cookies. */
async function checkCookies(patient: Patient, publicUrl: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: 'security-admin-console',
    redirect_uri: `${publicUrl}/admin/master/console/`,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const url = `${publicUrl}/realms/master/protocol/openid-connect/auth`;
  const answer = await patient.call(`${url}?${query}`, { headers: { accept: 'text/html' } });
  const cookies = answer.headers.getSetCookie();
  if (answer.status >= 500)
    throw fault(`${url} responded with ${answer.status}; the log of the service says why`);
  if (cookies.length === 0)
    throw fault(
      `${url} responded with ${answer.status} and set no cookie; the proxy must forward Set-Cookie`,
    );
  const isSecure = publicUrl.startsWith('https:');
  const faults = cookies.flatMap((cookie) => {
    const [name = ''] = cookie.split('=');
    const has = (attribute: string) => new RegExp(`;\\s*${attribute}(;|=|$)`, 'i').test(cookie);
    return [
      ...(isSecure && !has('Secure')
        ? [
            `${name} lacks Secure: the service does not know that the browser used https; set baseUrl or trustedProxies`,
          ]
        : []),
      ...(!has('HttpOnly') && /AUTH_SESSION|IDENTITY|RESTART/i.test(name)
        ? [`${name} lacks HttpOnly; the proxy must not change Set-Cookie`]
        : []),
    ];
  });
  if (faults.length > 0) throw fault(faults.join('; '));
  const names = cookies.map((cookie) => cookie.split('=')[0]).join(', ');
  return `${names}${isSecure ? ', with Secure' : ', without Secure because the address is not https'}`;
}
