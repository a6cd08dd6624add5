import { type IncomingMessage, request as requestPlain } from 'node:http';

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

/** A request to a service. */
export interface ServiceRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** A response whose headers have arrived. The caller reads its body, once. */
export interface ArrivingResponse {
  status: number;
  location: string | undefined;
  /** The header `Content-Type`, or an empty string. */
  contentType: string;
  readonly headers: Headers;
  /** The body as it arrives. @throws the reason of the signal if that aborts the request */
  body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
}

/**
 * Sends a request. Does not follow redirects, and accepts only the pinned certificate of an origin. Uses `node:http`
 * instead of `fetch`, because Node.js needs longer to load `fetch` than a local service needs to respond.
 *
 * @throws the error of the socket; the reason of the signal if that aborts the request
 */
export async function fetchService(url: string, call: ServiceRequest): Promise<ArrivingResponse> {
  const { signal } = call;
  signal.throwIfAborted();
  const target = new URL(url);
  const certificate = pinned.get(target.origin);
  const request = target.protocol === 'https:' ? (await import('node:https')).request : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(target, {
      method: call.method,
      headers: {
        // Some proxies reject requests without a user agent.
        'user-agent': 'idkit',
        // Node.js declares no length for the body of a DELETE, so the service would not read it.
        ...(call.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(call.body)) }),
        ...call.headers,
      },
      signal,
      ...(certificate === undefined ? {} : onlyCertificate(certificate)),
    });
    sent.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    sent.once('response', (response) => resolve(arriving(response, signal)));
    sent.end(call.body);
  });
}

function onlyCertificate(certificate: string) {
  return {
    agent: false,
    ca: certificate,
    allowPartialTrustChain: true,
    // Only the holder of the pinned certificate's key can complete the handshake, so the host name does not matter.
    checkServerIdentity: () => undefined,
  } as const;
}

function arriving(response: IncomingMessage, signal: AbortSignal): ArrivingResponse {
  const body = readBody(response, signal);
  return {
    status: response.statusCode ?? 500,
    location: response.headers.location,
    contentType: response.headers['content-type'] ?? '',
    // Few callers read the headers, and loading `Headers` takes as long as loading `fetch`.
    get headers() {
      const headers = new Headers();
      for (const [name, values] of Object.entries(response.headersDistinct))
        for (const value of values ?? []) headers.append(name, value);
      return headers;
    },
    body,
    text: async () => new TextDecoder().decode(await join(body)),
    bytes: () => join(body),
  };
}

async function join(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* readBody(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
