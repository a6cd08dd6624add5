import { request } from 'node:https';

/** PEM certificates by origin. */
const pinned = new Map<string, string>();

/**
 * Makes later calls to this origin accept exactly this certificate, whatever its name is. A service on this machine is
 * called at its address, but its certificate is for its public name.
 *
 * @param origin for example `https://127.0.0.1:8443`
 * @param pem the certificate of the service, which its lock on the platform directory authenticates
 */
export function pinCertificate(origin: string, pem: string): void {
  pinned.set(origin, pem);
}

/** The part of the options of `fetch` that calls to a service need. */
export interface ServiceRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** As `fetch`, without redirects and with the certificate that is pinned for the origin. */
export function fetchService(url: string, call: ServiceRequest): Promise<Response> {
  const certificate = pinned.get(URL.parse(url)?.origin ?? '');
  if (certificate !== undefined) return fetchPinned(url, call, certificate);
  return fetch(url, { ...call, redirect: 'manual' });
}

function fetchPinned(url: string, call: ServiceRequest, certificate: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: call.method,
        headers: { ...call.headers },
        signal: call.signal,
        agent: false,
        ca: certificate,
        allowPartialTrustChain: true,
        // The chain ends in the pinned certificate, so the peer has its key and the name does not matter.
        checkServerIdentity: () => undefined,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', reject);
        answer.once('end', () => {
          const headers = new Headers();
          for (const [name, value] of Object.entries(answer.headersDistinct)) {
            for (const each of value ?? []) headers.append(name, each);
          }
          const body = chunks.length === 0 ? null : Buffer.concat(chunks);
          resolve(new Response(body, { status: answer.statusCode ?? 500, headers }));
        });
      },
    );
    sent.once('error', reject);
    sent.end(call.body);
  });
}
