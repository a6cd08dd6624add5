import { type Readable, Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/index.ts';
import type { Route, Services } from '../url-table/route.ts';

/** How much of a refused body is thrown away so that the caller can read its answer, bytes and milliseconds. */
const DISCARD_BYTES = 16 * 1024 * 1024;
const DISCARD_MILLISECONDS = 10_000;

/** A body that is larger than the row takes (contract §5). */
export class BodyTooLarge extends Error {
  readonly limit: number;
  constructor(limit: number) {
    super(`Request body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/** Hands every body on as it came, whatever its content type says; the handlers judge the type. */
export function addRawParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/**
 * A content type that is none would be refused by Fastify before a handler sees it; Keycloak takes it for one
 * that it does not know (facts §3.1), so it becomes one.
 */
export function replaceMalformedType(request: FastifyRequest): void {
  const { headers } = request;
  const type = headers['content-type'];
  if (type === undefined || type === 'application/x-www-form-urlencoded' || mediaType.test(type)) return;
  headers['content-type'] = 'application/octet-stream';
}

/** What may prove its caller before it reads a large body; see `Route`. */
interface Guarded {
  authorize?: Route['authorize'] | undefined;
}

/** Bytes of a body that anybody may send at any time; no login of a person comes near. */
const ORDINARY_BYTES = 64 * 1024;
/** Larger ones of strangers at a time: each may be in memory as a whole until it is answered. */
const MOST_LARGE = 32;

/** Counts the large bodies of those who have not proved who they are. */
export class LargeBodies {
  #open = 0;

  /**
   * Counts the request's body, if it says to be large, until it is answered.
   *
   * @throws Refusal `service-busy` if there are too many of them
   */
  admit(route: Guarded, request: FastifyRequest, reply: FastifyReply): void {
    if (!route.authorize && (declaredLength(request) ?? 0) > ORDINARY_BYTES) this.#take(reply);
  }

  /**
   * The same for a body that does not say how large it is: it counts once it is large, and not before. Else a few that
   * never end would keep everybody out who sends one.
   *
   * @returns what the body is read from
   */
  watch(route: Guarded | null, request: FastifyRequest, reply: FastifyReply, body: Readable): Readable {
    if (route === null || route.authorize || declaredLength(request) !== undefined) return body;
    let bytes = 0;
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const before = bytes;
        bytes += chunk.length;
        try {
          if (before <= ORDINARY_BYTES && bytes > ORDINARY_BYTES) this.#take(reply);
        } catch (error) {
          return done(error as Error);
        }
        done(null, chunk);
      },
    });
    body.once('error', (error) => counted.destroy(error));
    return body.pipe(counted);
  }

  #take(reply: FastifyReply): void {
    if (this.#open >= MOST_LARGE) throw new Refusal('service-busy');
    this.#open++;
    reply.raw.once('close', () => this.#open--);
  }
}

/** How many bytes a row takes at most. */
function bodyLimit({ authorize }: Guarded, { limits }: Services): number {
  return authorize ? limits.adminBodyBytes : limits.bodyBytes;
}

/**
 * Refuses a body before it is read: one that says to be larger than the row takes, and on a row that takes
 * large ones any that may be large while its sender is not proved.
 *
 * @throws BodyTooLarge, or what the row's `authorize` throws
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

/** Bytes that the request says to carry; undefined where it does not say (chunked); 0 without a body. */
export function declaredLength(request: FastifyRequest): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined;
  return Number(request.headers['content-length'] ?? 0);
}

/**
 * The rest of a refused body is thrown away for a while, because a connection that is closed while the caller
 * still writes often loses the answer; then it is cut.
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
  // Nobody else reads it any more.
  raw.unpipe();
  raw.resume();
}
