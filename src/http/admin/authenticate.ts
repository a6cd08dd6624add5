import type { FastifyRequest } from 'fastify';
import { type Caller, unauthorized } from '../../admin/index.ts';
import { nameCaller } from '../../core/index.ts';
import { findIssuerRealm, isAllowedOrigin, verifyAccessToken } from '../../protocol/index.ts';
import { corsHeaders } from '../responses/cors.ts';
import type { Services } from '../url-table/route.ts';

const callers = new WeakMap<FastifyRequest, Promise<Caller>>();
/** Requests from pages whose origin the token's client allows (CORS). */
const allowedOrigins = new WeakSet<FastifyRequest>();

/**
 * Returns the caller of a request (docs/keycloak/admin-api.md#who-may-call). Verifies the bearer token once per
 * request. The store takes turns between callers.
 *
 * @throws AdminRefusal 401
 */
export async function authenticate(services: Services, request: FastifyRequest): Promise<Caller> {
  let verified = callers.get(request);
  if (verified === undefined) {
    verified = verifyCaller(services, request);
    callers.set(request, verified);
  }
  const caller = await verified;
  nameCaller({ realm: caller.realmId, user: caller.userId });
  return caller;
}

async function verifyCaller({ protocol }: Services, request: FastifyRequest): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized();
  const realm = await findIssuerRealm(protocol, token);
  if (realm === undefined || !realm.realm.settings.enabled) throw unauthorized();
  const verified = await verifyAccessToken(protocol, realm, token);
  if (verified.outcome !== 'active') throw unauthorized();
  const { origin } = request.headers;
  if (origin !== undefined && isAllowedOrigin(protocol, verified.client, origin)) allowedOrigins.add(request);
  return {
    realmId: realm.realm.id,
    realmName: realm.realm.name,
    userId: verified.user.id,
    clientId: verified.client.clientId,
    clientUuid: verified.client.id,
    scopes: new Set(String(verified.claims['scope'] ?? '').split(' ')),
    ipAddress: request.ip,
  };
}

/**
 * Returns the headers that let a page read the response, `Location` included. As at the token endpoint, the token's
 * client must allow the page's origin. `authenticate` has to run first.
 */
export function originHeaders(request: FastifyRequest): Record<string, string> {
  const { origin } = request.headers;
  if (!allowedOrigins.has(request)) return {};
  return corsHeaders(origin, 'Location, Access-Control-Allow-Methods');
}
