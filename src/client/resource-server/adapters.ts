import { BearerRefusal } from './bearer-refusal.ts';
import type { Caller, Requirement } from './caller.ts';
import type { ResourceServer } from './resource-server.ts';

/** The members of a request that the adapters read. Requests of Fastify, Express and node:http have them. */
export interface RequestShape {
  readonly headers: { readonly authorization?: string | undefined };
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

const callers = new WeakMap<object, Caller>();

/** Returns the caller of a request that an adapter admitted. @throws Error if no adapter admitted the request */
export function getCaller(request: object): Caller {
  const caller = callers.get(request);
  if (caller === undefined)
    throw new Error('no bearer check admitted this request; add an adapter to its route');
  return caller;
}

/**
 * Returns a hook for Fastify: `{ onRequest: fastifyBearer(api, { realmRoles: ['reader'] }) }`. The hook responds to a
 * request that it rejects, and the handler of the route does not run.
 */
export function fastifyBearer(
  api: ResourceServer,
  requirement?: Requirement,
): (request: RequestShape, reply: ReplyShape) => Promise<unknown> {
  return async (request, reply) => {
    const refusal = await admit(api, request, requirement);
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
  requirement?: Requirement,
): (request: RequestShape, response: ResponseShape, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    admit(api, request, requirement).then((refusal) => {
      if (refusal === undefined) next();
      else refuse(response, refusal);
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
): (request: Q, response: R) => Promise<void> {
  return async (request, response) => {
    const refusal = await admit(api, request, requirement);
    if (refusal === undefined) await listener(request, response);
    else refuse(response, refusal);
  };
}

async function admit(
  api: ResourceServer,
  request: RequestShape,
  requirement: Requirement | undefined,
): Promise<BearerRefusal | undefined> {
  try {
    callers.set(request, await api.check(request.headers.authorization, requirement));
    return undefined;
  } catch (error) {
    if (error instanceof BearerRefusal) return error;
    throw error;
  }
}

function refuse(response: ResponseShape, { status, headers, body }: BearerRefusal): void {
  response.writeHead(status, { ...headers });
  response.end(JSON.stringify(body));
}
