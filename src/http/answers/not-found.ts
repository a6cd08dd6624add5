import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/index.ts';
import type { Services } from '../url-table/route.ts';
import { sendGlobalError, statusText } from './error-answers.ts';

/**
 * Answers a path that no row of the table serves, as Keycloak 26 does (facts §1): an unknown realm first, then
 * by the part of the tree that the path lies in.
 */
export async function answerNotFound(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const path = request.url.split('?', 1)[0]!;
  const [area, name, kind, protocol] = path.split('/').slice(1);
  if (area === 'realms' && name) {
    const realm = await services.protocol.store.findRealm(decoded(name));
    if (realm === undefined) return sendGlobalError(request, reply, 404, 'Realm does not exist');
    if (kind === '.well-known') return sendGlobalError(request, reply, 404, statusText(404));
    if (kind === 'protocol') {
      if (protocol !== undefined && protocol !== 'openid-connect')
        return sendGlobalError(request, reply, 404, 'Protocol not found');
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return sendGlobalError(request, reply, 405, statusText(405));
    }
    return sendGlobalError(request, reply, 404, statusText(404));
  }
  if (area === 'admin' && name === 'realms') return sendGlobalError(request, reply, 404, statusText(404));
  return sendGlobalError(request, reply, 404, 'Unable to find matching target resource method');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** @throws Refusal `not-built-yet` that names the path */
export function notBuilt(request: FastifyRequest, what: string): never {
  const path = request.url.split('?', 1)[0];
  throw new Refusal('not-built-yet', { description: `${what} is not built yet: ${path}` });
}
