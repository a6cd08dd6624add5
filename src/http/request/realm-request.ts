import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, type ProtocolRequest, Refusal } from '../../protocol/index.ts';
import { corsHeaders } from '../responses/cors.ts';
import { pathParameter } from '../url-table/url-table.ts';
import { parseForm } from './form.ts';

/**
 * Converts a request below `/realms/{realm}/` to the protocol's form.
 *
 * @throws Refusal `malformed-form`
 */
export function protocolRequest(request: FastifyRequest): ProtocolRequest {
  const form = parseForm(request.body, request.headers['content-type']);
  const { authorization, origin, accept, dpop } = request.headers;
  return {
    realm: realmOf(request),
    form: form.fields,
    duplicated: form.duplicated,
    ...(authorization === undefined ? {} : { authorization }),
    ...(origin === undefined ? {} : { origin }),
    ...(accept === undefined ? {} : { accept }),
    ...(dpop === undefined ? {} : { dpop: String(dpop) }),
    remoteAddress: request.ip,
    secure: request.protocol === 'https',
  };
}

/** Frees the bytes of a parsed body, because the request may wait for a password hash. */
export function releaseBody(request: FastifyRequest): void {
  request.body = undefined;
}

/** The `{realm}` of the path. */
export function realmOf(request: FastifyRequest): string {
  return pathParameter(request, 'realm');
}

/** Sends an answer of the protocol as JSON, with its CORS headers. */
export function sendAnswer(reply: FastifyReply, answer: Answer<unknown>): FastifyReply {
  if (answer.allowOrigin !== undefined) reply.headers(corsHeaders(answer.allowOrigin));
  return reply.send(answer.body);
}

/** Sends an answer of the protocol without a body. */
export function sendEmpty(reply: FastifyReply, status: number, answer: Answer<undefined>): FastifyReply {
  return reply.code(status).headers(corsHeaders(answer.allowOrigin)).send();
}

/** Adds the realm of the path to a refusal, for the header `WWW-Authenticate`. */
export function nameRealm<T>(request: FastifyRequest, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof Refusal && error.realm === undefined) error.realm = realmOf(request);
    throw error;
  });
}
