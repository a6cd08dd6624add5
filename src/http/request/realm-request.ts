import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, type ProtocolRequest, Refusal } from '../../protocol/index.ts';
import { corsHeaders } from '../answers/cors.ts';
import { parseForm } from './form.ts';

/**
 * A request below `/realms/{realm}/` as the protocol sees it.
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

/** What was read of it is enough; a request that waits for a hash is not to keep the bytes too. */
export function releaseBody(request: FastifyRequest): void {
  request.body = undefined;
}

/** The `{realm}` of the path. */
export function realmOf(request: FastifyRequest): string {
  return (request.params as { realm: string }).realm;
}

/** Sends an answer as JSON with the headers that its origin may need. */
export function sendAnswer(reply: FastifyReply, answer: Answer<unknown>): FastifyReply {
  return reply.headers(corsHeaders(answer.allowOrigin)).send(answer.body);
}

/** Sends an answer without a body. */
export function sendEmpty(reply: FastifyReply, status: 200 | 204, answer: Answer<undefined>): FastifyReply {
  return reply.code(status).headers(corsHeaders(answer.allowOrigin)).send();
}

/** No endpoint here reads a body on GET; a refusal that names the realm needs it from the path. */
export function nameRealm<T>(request: FastifyRequest, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof Refusal && error.realm === undefined) error.realm = realmOf(request);
    throw error;
  });
}
