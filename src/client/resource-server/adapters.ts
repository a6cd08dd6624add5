import { BearerRefusal } from './bearer-refusal.ts';
import type { Caller, Requirement } from './caller.ts';
import type { ResourceServer } from './resource-server.ts';

/** What of a request is read; those of Fastify, Express and node:http have it. */
export interface RequestShape {
  readonly headers: { readonly authorization?: string | undefined };
}

/** What of a node:http response is used; Express answers with the same object. */
export interface ResponseShape {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

/** What of a Fastify reply is used. */
export interface ReplyShape {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: unknown): unknown;
}

const callers = new WeakMap<object, Caller>();

/** Who sent a request that one of the adapters let through. @throws Error where none did */
export function getCaller(request: object): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('no bearer check ran for this request');
  return caller;
}

/** A hook for Fastify: `{ onRequest: fastifyBearer(api, { realmRoles: ['reader'] }) }`. */
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

/** Middleware for Express: `app.get('/orders', expressBearer(api, …), handler)`. */
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

/** A listener for node:http that runs `listener` for callers who may pass. */
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
