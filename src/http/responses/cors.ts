import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../url-table/route.ts';
import { STATUS } from './statuses.ts';

// The CORS headers follow Keycloak's rules (docs/keycloak/errors.md#cors).

/** Returns the headers that let a page of `origin` read the response. Without an origin, returns no headers. */
export function corsHeaders(
  origin: string | undefined,
  exposed = 'Access-Control-Allow-Methods',
): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
  };
}

/** Sets the headers that let pages of any origin read a public document. Caches keep one copy for each origin. */
export function allowAnyOrigin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { origin } = request.headers;
  reply.header('vary', 'Origin');
  if (origin === undefined) return reply;
  return reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' });
}

const ALLOWED_HEADERS =
  'Accept, Access-Control-Request-Headers, Access-Control-Request-Method, Authorization, Content-Type, DPoP, Origin, X-Requested-With';

/**
 * Creates the OPTIONS route of a URL. It allows preflight requests from any origin, and sends an empty 200 to a request
 * without an origin.
 */
export function preflight(url: string, methods: string): Route {
  return {
    method: 'OPTIONS',
    url,
    handle: async (_services, request, reply) => {
      const { origin } = request.headers;
      if (origin !== undefined)
        reply.headers({
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          'access-control-allow-methods': methods,
          'access-control-allow-headers': ALLOWED_HEADERS,
          'access-control-max-age': '3600',
        });
      return reply.code(STATUS.ok).send();
    },
  };
}

/** Creates the OPTIONS route of a URL that does not support CORS. */
export function plainOptions(url: string, methods: string): Route {
  return {
    method: 'OPTIONS',
    url,
    handle: async (_services, _request, reply) => reply.code(STATUS.ok).header('allow', methods).send(),
  };
}
