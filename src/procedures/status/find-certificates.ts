import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Settings } from '../../config/index.ts';
import { errorMessage } from '../../core/index.ts';
import { finding, type Judgement } from './judge.ts';

const DAY_MILLISECONDS = 86_400_000;
/** A certificate is due this many days before its end, or after four fifths of a shorter lifetime. */
const LIMIT_DAYS = 14;

/** A TLS certificate of the platform. */
export interface FoundCertificate {
  /** The file, or the address that sent the certificate. */
  place: string;
  /** ISO 8601, UTC. */
  expiresAt: string;
  /** Unix time in milliseconds from which the certificate should have been replaced. */
  dueAt: number;
}

/**
 * Returns the certificates of `listen.tlsCert` and of the https addresses. The served certificates matter too, because
 * a service or proxy may continue to serve an old one after its file was replaced.
 *
 * @param note receives a message for each address that does not send a certificate
 */
export async function findCertificates(
  settings: Settings,
  addresses: readonly (string | null | undefined)[],
  options: { timeoutMilliseconds: number; note: (message: string) => void },
): Promise<readonly FoundCertificate[]> {
  const found: FoundCertificate[] = [];
  const { tlsCert } = settings.listen;
  if (tlsCert !== null) {
    try {
      found.push(describe(tlsCert, new X509Certificate(await readFile(tlsCert))));
    } catch (error) {
      options.note(`the certificate ${tlsCert} cannot be read: ${errorMessage(error)}`);
    }
  }
  const urls = new Set(addresses.filter((url) => url?.startsWith('https:')));
  for (const url of urls) {
    try {
      found.push(describe(url!, await fetchCertificate(new URL(url!), options.timeoutMilliseconds)));
    } catch (error) {
      options.note(`the certificate of ${url} is unknown: ${errorMessage(error)}`);
    }
  }
  return found;
}

function describe(place: string, certificate: X509Certificate): FoundCertificate {
  const from = certificate.validFromDate.getTime();
  const to = certificate.validToDate.getTime();
  const margin = Math.min(LIMIT_DAYS * DAY_MILLISECONDS, (to - from) / 5);
  return { place, expiresAt: new Date(to).toISOString(), dueAt: to - margin };
}

/** Returns the certificate that an address sends. Accepts any issuer, because only its dates are read. */
function fetchCertificate(url: URL, timeoutMilliseconds: number): Promise<X509Certificate> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port) || 443,
      rejectUnauthorized: false,
      timeout: timeoutMilliseconds,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (certificate === undefined) reject(new Error('it sent no certificate'));
      else resolve(certificate);
    });
    socket.once('timeout', () => socket.destroy(new Error('no response in time')));
    socket.once('error', reject);
  });
}

/** @param now Unix time in milliseconds */
export function judgeCertificates(
  certificates: readonly FoundCertificate[],
  now: number,
): readonly Judgement[] {
  return certificates.flatMap(({ place, expiresAt, dueAt }) => {
    if (now < dueAt) return [];
    const verb = Date.parse(expiresAt) <= now ? 'expired' : 'expires';
    return [
      finding(
        'CERTIFICATE_EXPIRES',
        `the certificate of ${place} ${verb} on ${expiresAt}; replace it and restart what serves it`,
      ),
    ];
  });
}
