import { type Readable, Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/index.ts';
import type { Route, Services } from '../url-table/route.ts';

/** Maximum number of bytes of a rejected body that are discarded before the connection is closed. */
const DISCARD_BYTES = 16 * 1024 * 1024;
/** Maximum time in milliseconds for which a rejected body is discarded. */
const DISCARD_MILLISECONDS = 10_000;

/** A body that is larger than its route accepts (docs/reference/http.md#limits-of-requests). */
export class BodyTooLarge extends Error {
  readonly limit: number;
  constructor(limit: number) {
    super(`Request body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/** Passes every body to the handlers as a Buffer, whatever its content type. The handlers check the type. */
export function addRawParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/**
 * Replaces a malformed content type, which Fastify would reject before a handler sees it. Keycloak treats it as an
 * unknown type (docs/keycloak/errors.md#content-types).
 */
export function replaceMalformedType(request: FastifyRequest): void {
  const { headers } = request;
  const type = headers['content-type'];
  if (type === undefined || type === 'application/x-www-form-urlencoded' || mediaType.test(type)) return;
  headers['content-type'] = 'application/octet-stream';
}

/** A route that may authorize the caller before a large body is read; see `Route`. */
interface Guarded {
  authorize?: Route['authorize'] | undefined;
}

/** Maximum size in bytes of a body that is not counted as large. The forms of the login are far smaller. */
const ORDINARY_BYTES = 64 * 1024;
/** Maximum number of large bodies of unauthorized callers. Each of them can be in memory until its response. */
const MOST_LARGE = 32;

/** Limits the number of large bodies that unauthorized callers send in parallel. */
export class LargeBodies {
  #open = 0;

  /**
   * Counts a body that declares a large size, until its response has ended.
   *
   * @throws Refusal `service-busy` if there are too many
   */
  admit(route: Guarded, request: FastifyRequest, reply: FastifyReply): void {
    if (!route.authorize && (declaredLength(request) ?? 0) > ORDINARY_BYTES) this.#count(reply);
  }

  /**
   * Counts a body of unknown length once it is large. If such bodies were counted from their start, a few bodies that
   * never end would block all other callers who send such a body.
   *
   * @returns the stream from which the body is read
   */
  watch(route: Guarded | null, request: FastifyRequest, reply: FastifyReply, body: Readable): Readable {
    if (route === null || route.authorize || declaredLength(request) !== undefined) return body;
    let bytes = 0;
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const previous = bytes;
        bytes += chunk.length;
        try {
          if (previous <= ORDINARY_BYTES && bytes > ORDINARY_BYTES) this.#count(reply);
        } catch (error) {
          return done(error instanceof Error ? error : new Error(String(error)));
        }
        done(null, chunk);
      },
    });
    body.once('error', (error) => counted.destroy(error));
    return body.pipe(counted);
  }

  #count(reply: FastifyReply): void {
    if (this.#open >= MOST_LARGE) throw new Refusal('service-busy');
    this.#open++;
    reply.raw.once('close', () => this.#open--);
  }
}

/** Maximum size in bytes of a body that a route accepts. */
function bodyLimit({ authorize }: Guarded, { limits }: Services): number {
  return authorize ? limits.adminBodyBytes : limits.bodyBytes;
}

/**
 * Rejects a body before the service reads it: if it declares a larger size than the route accepts, or if it may be
 * large and its caller is not authorized.
 *
 * @throws BodyTooLarge, or an error of the route's `authorize`
 */
export async function checkBodyBeforeReading(
  route: Guarded,
  services: Services,
  request: FastifyRequest,
): Promise<void> {
  const declared = declaredLength(request);
  if (declared === 0) return;
  const limit = bodyLimit(route, services);
  const large = declared === undefined || declared > services.limits.bodyBytes;
  if (large && route.authorize) await route.authorize(services, request);
  if (declared !== undefined && declared > limit) throw new BodyTooLarge(limit);
}

/** Returns the size of the body in bytes, 0 without a body, or undefined if the length is unknown (chunked). */
export function declaredLength(request: FastifyRequest): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined;
  return Number(request.headers['content-length'] ?? 0);
}

/**
 * Discards the rest of a rejected body for a while, then closes the connection. Callers often lose the response if the
 * connection closes while they are still sending.
 */
export function discardRest(request: FastifyRequest): void {
  const raw = request.raw;
  if (raw.complete || raw.destroyed) return;
  let discarded = 0;
  const cut = () => raw.socket.destroy();
  const timer = setTimeout(cut, DISCARD_MILLISECONDS);
  timer.unref();
  raw.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) cut();
  });
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
  // Detach the other readers of the body, so that this function alone reads the rest.
  raw.unpipe();
  raw.resume();
}
