import { BearerRefusal } from './bearer-refusal.ts';
import { type Caller, checkRequirement, type Requirement } from './caller.ts';
import type { ResourceServer } from './resource-server.ts';

/** The members of a request that the adapters read. Requests of Fastify, Express and node:http have them. */
export interface RequestShape {
  readonly headers: { readonly authorization?: string | undefined };
  /** Names and values of all headers, in turn. Node.js keeps only the first `Authorization` header in `headers`. */
  readonly rawHeaders?: readonly string[];
  /** The request of node:http, in a request of Fastify. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
}

/** The members of a node:http response that the adapters use. Responses of Express have them too. */
export interface ResponseShape {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

/** The members of a Fastify reply that the adapters use. */
export interface ReplyShape {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: unknown): unknown;
}

/** The members of a Hono context that the adapters read. */
export interface HonoContextShape {
  readonly req: { readonly raw: Request };
}

/** Options of every adapter. */
export interface AdapterOptions<Q = unknown> {
  /**
   * Receives each refusal with its request, for example to log `refusal.reason` and `refusal.message`. The message
   * contains no token. If the function throws or rejects, the request fails with its error.
   */
  onRefusal?(refusal: BearerRefusal, request: Q): void | Promise<void>;
}

const callers = new WeakMap<object, Caller>();

/**
 * Returns the caller of a request that an adapter admitted. With Hono, the request is `context.req.raw`.
 *
 * @throws Error if no adapter admitted the request
 */
export function getCaller(request: object): Caller {
  const caller = callers.get(request);
  if (caller === undefined)
    throw new Error('no bearer check admitted this request; add an adapter to its route');
  return caller;
}

/**
 * Returns a hook for Fastify: `{ onRequest: fastifyBearer(api, { realmRoles: ['reader'] }) }`. The hook responds to a
 * request that it rejects, and the handler of the route does not run.
 *
 * @throws TypeError if the requirement has an unknown field, or a field that is not a list. The same applies to the other
 * adapters
 */
export function fastifyBearer(
  api: ResourceServer,
  requirement: Requirement = {},
  options?: AdapterOptions<RequestShape>,
): (request: RequestShape, reply: ReplyShape) => Promise<unknown> {
  checkRequirement(requirement);
  return async (request, reply) => {
    const refusal = await admit(api, request, readNodeHeader(request), requirement, options);
    if (refusal === undefined) return undefined;
    reply.code(refusal.status);
    reply.headers({ ...refusal.headers });
    reply.send(refusal.body);
    return reply;
  };
}

/**
 * Returns middleware for Express: `app.get('/orders', expressBearer(api, …), handler)`. It responds to a request that
 * it rejects. It calls `next` for an admitted request, and with any unexpected error.
 */
export function expressBearer(
  api: ResourceServer,
  requirement: Requirement = {},
  options?: AdapterOptions<RequestShape>,
): (request: RequestShape, response: ResponseShape, next: (error?: unknown) => void) => void {
  checkRequirement(requirement);
  return (request, response, next) => {
    admit(api, request, readNodeHeader(request), requirement, options)
      .then((refusal) => {
        if (refusal !== undefined) refuse(response, refusal);
        return refusal;
      })
      .then((refusal) => {
        if (refusal === undefined) next();
      }, next);
  };
}

/**
 * Returns a listener for node:http that runs `listener` for admitted requests and responds to rejected ones. Its
 * promise rejects if `listener` fails.
 */
export function httpBearer<Q extends RequestShape, R extends ResponseShape>(
  api: ResourceServer,
  requirement: Requirement,
  listener: (request: Q, response: R) => unknown,
  options?: AdapterOptions<Q>,
): (request: Q, response: R) => Promise<void> {
  checkRequirement(requirement);
  return async (request, response) => {
    const refusal = await admit(api, request, readNodeHeader(request), requirement, options);
    if (refusal === undefined) await listener(request, response);
    else refuse(response, refusal);
  };
}

/**
 * Returns a handler of web requests that runs `handler` for admitted requests, for example a route of Next.js:
 * `export const GET = webBearer(api, { realmRoles: ['reader'] }, (request) => Response.json(…))`.
 */
export function webBearer<Q extends Request, Rest extends readonly unknown[]>(
  api: ResourceServer,
  requirement: Requirement,
  handler: (request: Q, ...rest: Rest) => Response | Promise<Response>,
  options?: AdapterOptions<Q>,
): (request: Q, ...rest: Rest) => Promise<Response> {
  checkRequirement(requirement);
  return async (request, ...rest) => {
    const refusal = await admit(api, request, readHeader(request), requirement, options);
    return refusal === undefined ? handler(request, ...rest) : toResponse(refusal);
  };
}

/**
 * Returns middleware for Hono: `app.use('/orders', honoBearer(api, { realmRoles: ['reader'] }))`. It responds to a
 * request that it rejects.
 */
export function honoBearer(
  api: ResourceServer,
  requirement: Requirement = {},
  options?: AdapterOptions<Request>,
): (context: HonoContextShape, next: () => Promise<void>) => Promise<Response | undefined> {
  checkRequirement(requirement);
  return async ({ req: { raw } }, next) => {
    const refusal = await admit(api, raw, readHeader(raw), requirement, options);
    if (refusal !== undefined) return toResponse(refusal);
    await next();
    return undefined;
  };
}

async function admit<Q extends object>(
  api: ResourceServer,
  request: Q,
  authorization: string | undefined,
  requirement: Requirement,
  options: AdapterOptions<Q> | undefined,
): Promise<BearerRefusal | undefined> {
  try {
    callers.set(request, await api.check(authorization, requirement));
    return undefined;
  } catch (error) {
    if (!(error instanceof BearerRefusal)) throw error;
    await options?.onRefusal?.(error, request);
    return error;
  }
}

/** Returns the `Authorization` header, or several of them joined with a comma, as in a web request. */
function readNodeHeader({ headers, rawHeaders, raw }: RequestShape): string | undefined {
  const all = rawHeaders ?? raw?.rawHeaders ?? [];
  const values = all.filter((_, i) => i % 2 === 1 && all[i - 1]?.toLowerCase() === 'authorization');
  return values.length > 1 ? values.join(', ') : headers.authorization;
}

function readHeader(request: Request): string | undefined {
  return request.headers.get('authorization') ?? undefined;
}

function toResponse({ status, headers, body }: BearerRefusal): Response {
  return new Response(JSON.stringify(body), { status, headers: { ...headers } });
}

function refuse(response: ResponseShape, { status, headers, body }: BearerRefusal): void {
  response.writeHead(status, { ...headers });
  response.end(JSON.stringify(body));
}
