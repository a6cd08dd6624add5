import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as sendHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as sendHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { errorMessage, IdkitError, systemErrorCode } from '../../core/index.ts';
import { hostile, isNetworkError, unreachable } from '../faults.ts';
import type { S3Account } from './account.ts';
import { describeRefusal, S3Refusal } from './refusal.ts';
import { checkXml, MOST_XML_BYTES } from './xml.ts';

/** A request to a bucket. */
export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  /** The key of an object, not encoded. Absent for requests to the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer>;
  signal?: AbortSignal | undefined;
}

export interface S3Response {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: IncomingMessage;
  /** The number of attempts. */
  attempts: number;
}

export interface S3Client {
  readonly label: string;
  /** Sends a request, and sends it again after faults that may pass. Resolves for 2xx, else throws `S3Refusal`. */
  send(request: S3Request): Promise<S3Response>;
  /** Sends a request and returns its XML. */
  sendForText(request: S3Request): Promise<{ text: string; response: S3Response }>;
  close(): void;
}

/** Number of attempts for each request, and the pause before the second one, which then quadruples. */
const ATTEMPTS = 4;
const FIRST_PAUSE_MILLISECONDS = 200;

const EMPTY = new Uint8Array(0);
const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * A small client for one bucket. Addresses are path-style. Redirects are never followed, because the signature and the
 * data would go to another host. A connection without a byte for `stallMilliseconds` is closed.
 */
export function createS3Client(
  account: S3Account,
  bucket: string,
  options: { label: string; stallMilliseconds: number; pauseMilliseconds?: number | undefined },
): S3Client {
  const { label } = options;
  const secure = account.endpoint.protocol === 'https:';
  const agent = secure
    ? new HttpsAgent({
        keepAlive: true,
        maxSockets: 16,
        ...(account.ca === undefined ? {} : { ca: account.ca }),
      })
    : new HttpAgent({ keepAlive: true, maxSockets: 16 });
  const signingKeys = new Map<string, ArrayBuffer>();

  async function sign({ method, key, query = {}, headers = {}, body }: S3Request) {
    const url = new URL(account.endpoint);
    const base = url.pathname.replace(/\/+$/, '');
    url.pathname = `${base}/${bucket}${key === undefined ? '' : `/${encodeKey(key)}`}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.toString(),
      headers: { ...headers, 'X-Amz-Content-Sha256': await sha256(body ?? EMPTY) },
      accessKeyId: account.accessKeyId,
      secretAccessKey: account.secretAccessKey.reveal(),
      ...(account.sessionToken === undefined ? {} : { sessionToken: account.sessionToken.reveal() }),
      service: 's3',
      region: account.region,
      cache: signingKeys,
    });
    const signed = await signer.sign();
    const sent: Record<string, string> = {};
    signed.headers.forEach((value, name) => {
      sent[name] = value;
    });
    return { url: signed.url, headers: { ...sent, 'content-length': String(body?.length ?? 0) } };
  }

  async function sendOnce(request: S3Request, attempt: number): Promise<S3Response> {
    const { url, headers } = await sign(request);
    const response = await exchange(
      url,
      {
        method: request.method,
        headers,
        agent,
        timeout: options.stallMilliseconds,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      },
      request.body,
    );
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300)
      return { status, headers: response.headers, body: response, attempts: attempt };
    const text = request.method === 'HEAD' ? '' : await readText(label, response);
    response.destroy();
    throw new S3Refusal(status, text, response.headers);
  }

  async function send(request: S3Request): Promise<S3Response> {
    for (
      let attempt = 1, pause = options.pauseMilliseconds ?? FIRST_PAUSE_MILLISECONDS;
      ;
      attempt += 1, pause *= 4
    ) {
      request.signal?.throwIfAborted();
      try {
        return await sendOnce(request, attempt);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (attempt === ATTEMPTS || !isPassing(error)) {
          if (error instanceof S3Refusal) {
            error.attempts = attempt;
            throw error;
          }
          throw connectionFault(label, account.endpoint, error);
        }
        // Part of the pause is random, so that clients do not come back at the same time.
        await sleep(
          pause * (0.75 + Math.random() / 2),
          undefined,
          request.signal === undefined ? {} : { signal: request.signal },
        );
      }
    }
  }

  return {
    label,
    send,
    async sendForText(request) {
      const response = await send(request);
      return { text: checkXml(label, await readText(label, response.body)), response };
    },
    close: () => agent.destroy(),
  };

  function exchange(url: URL, init: RequestOptions, body: Uint8Array | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = (secure ? sendHttps : sendHttp)(url, init, (response) => {
        response.on('error', () => {});
        resolve(response);
      });
      request.on('timeout', () =>
        request.destroy(
          Object.assign(new Error(`no byte for ${options.stallMilliseconds / 1000} s`), {
            code: 'ETIMEDOUT',
          }),
        ),
      );
      request.on('error', reject);
      request.end(body);
    });
  }
}

/** Converts a refusal that no caller expected into the operator's error. Returns every other error unchanged. */
export function explainRefusal(label: string, account: S3Account, error: unknown): unknown {
  return error instanceof S3Refusal ? describeRefusal(label, account, error) : error;
}

/** Encodes a key as S3 signs it: everything but the unreserved characters of RFC 3986 and the slash. */
function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.length === 0) return SHA256_OF_NOTHING;
  // WebCrypto hashes on another thread, so that parts are hashed while others are sent.
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

async function readText(label: string, body: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_XML_BYTES) {
      body.destroy();
      throw hostile(label, 'its response is longer than 8 MiB');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reports whether the same request may succeed a little later. */
function isPassing(error: unknown): boolean {
  if (error instanceof S3Refusal) return error.mayPass;
  return !(error instanceof IdkitError) && isNetworkError(error);
}

function connectionFault(label: string, endpoint: URL, error: unknown): unknown {
  if (error instanceof IdkitError) return error;
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  if (/CERT|SSL|SELF_SIGNED|ISSUER/.test(code)) {
    return new IdkitError(
      'IDKIT_UNREACHABLE',
      `${label}: the certificate of ${endpoint.host} is not trusted: ${errorMessage(error)}`,
      {
        hints: ['set AWS_CA_BUNDLE to the PEM file of the authority that issued it'],
        cause: error,
      },
    );
  }
  return unreachable(label, `${endpoint.host} is unreachable: ${errorMessage(error)}`, error);
}
