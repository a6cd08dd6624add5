import type { FastifyRequest } from 'fastify';
import { introspectToken, requestTokens, revokeToken } from '../../protocol/index.ts';
import { protocolRequest, releaseBody, sendAnswer, sendEmpty } from '../request/realm-request.ts';
import { plainOptions, preflight } from '../responses/cors.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Route } from '../url-table/route.ts';

const base = '/realms/:realm/protocol/openid-connect';

/** The routes that read a form and authenticate a client: token, revocation and introspection. */
export const tokenRoutes: readonly Route[] = [
  {
    method: 'POST',
    url: `${base}/token`,
    handle: async (services, request, reply) => {
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
      return sendAnswer(reply, await requestTokens(services.protocol, readForm(request)));
    },
  },
  preflight(`${base}/token`, 'OPTIONS, POST'),
  {
    method: 'POST',
    url: `${base}/revoke`,
    handle: async (services, request, reply) => {
      return sendEmpty(reply, STATUS.ok, await revokeToken(services.protocol, readForm(request)));
    },
  },
  preflight(`${base}/revoke`, 'OPTIONS, POST'),
  {
    method: 'POST',
    url: `${base}/token/introspect`,
    handle: async (services, request, reply) => {
      reply.header('cache-control', 'no-cache');
      return sendAnswer(reply, await introspectToken(services.protocol, readForm(request)));
    },
  },
  plainOptions(`${base}/token/introspect`, 'HEAD, POST, OPTIONS'),
  preflight(`${base}/logout`, 'GET, HEAD, OPTIONS'),
];

function readForm(request: FastifyRequest) {
  const parsed = protocolRequest(request);
  releaseBody(request);
  return parsed;
}
