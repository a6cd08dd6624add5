import { request } from 'node:https';

/** PEM certificates by origin. */
const pinned = new Map<string, string>();

/**
 * From now on calls to this origin accept exactly this certificate, whatever name it carries: a service on this
 * machine is reached at its address, and its certificate is for the name that the world knows.
 *
 * @param origin for example `https://127.0.0.1:8443`
 * @param pem the service's own certificate, proved by the kernel lock that the service holds
 */
export function pinCertificate(origin: string, pem: string): void {
  pinned.set(origin, pem);
}

/** What of `fetch` the calls to a service need. */
export interface ServiceRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** `fetch` without redirects, and with the certificate that was pinned for the origin. */
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
        // The chain ends in the pinned certificate itself, so the peer holds its key; names do not matter.
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
