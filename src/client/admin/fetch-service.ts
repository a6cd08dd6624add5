import { request } from 'node:https';

/** The pinned certificates (PEM) by origin. */
const pinned = new Map<string, string>();

/**
 * Makes all later calls to this origin accept only this certificate, for any host name. idkit calls a service on this
 * machine at a loopback address, but the certificate is for the public host name.
 *
 * @param origin for example `https://127.0.0.1:8443`
 * @param pem the certificate of the running service, from its lock file
 */
export function pinCertificate(origin: string, pem: string): void {
  pinned.set(origin, pem);
}

/** The options of `fetch` that calls to a service use. */
export interface ServiceRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** Works like `fetch`, but does not follow redirects and accepts only the pinned certificate of an origin. */
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
        // Only the holder of the pinned certificate's key can complete the handshake, so the host name does not matter.
        checkServerIdentity: () => undefined,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const headers = new Headers();
          for (const [name, value] of Object.entries(response.headersDistinct)) {
            for (const each of value ?? []) headers.append(name, each);
          }
          const body = chunks.length === 0 ? null : Buffer.concat(chunks);
          resolve(new Response(body, { status: response.statusCode ?? 500, headers }));
        });
      },
    );
    sent.once('error', reject);
    sent.end(call.body);
  });
}
