import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../url-table/route.ts';

/** Headers that let a page of `origin` read the answer (facts §1); none without an origin. */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'Access-Control-Allow-Methods',
  };
}

/** Public documents: any origin is echoed, without `Access-Control-Expose-Headers` (observed cors/certs). */
export function allowAnyOrigin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { origin } = request.headers;
  // A cache between keeps an answer for each origin.
  reply.header('vary', 'Origin');
  if (origin === undefined) return reply;
  return reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' });
}

const ALLOWED_HEADERS =
  'Accept, Access-Control-Request-Headers, Access-Control-Request-Method, Authorization, Content-Type, DPoP, Origin, X-Requested-With';

/**
 * The OPTIONS row of a URL: any origin may ask which methods it may use (facts §1, observed cors). Without an
 * Origin it is an empty 200.
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
      return reply.code(200).send();
    },
  };
}

/** The OPTIONS row of a URL without CORS (facts §1: introspection). */
export function plainOptions(url: string, methods: string): Route {
  return {
    method: 'OPTIONS',
    url,
    handle: async (_services, _request, reply) => reply.code(200).header('allow', methods).send(),
  };
}
