import type { FastifyRequest } from 'fastify';
import { type Caller, unauthorized } from '../../admin/index.ts';
import { findIssuerRealm, isAllowedOrigin, verifyAccessToken } from '../../protocol/index.ts';
import type { Services } from '../url-table/route.ts';

const proved = new WeakMap<FastifyRequest, Promise<Caller>>();
const readable = new WeakSet<FastifyRequest>();

/** Who calls, by the Bearer token; looked at once per request. @throws AdminRefusal 401 (facts §7.1) */
export function authenticate(services: Services, request: FastifyRequest): Promise<Caller> {
  let caller = proved.get(request);
  if (caller === undefined) {
    caller = prove(services, request);
    proved.set(request, caller);
  }
  return caller;
}

async function prove({ protocol }: Services, request: FastifyRequest): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized();
  const realm = await findIssuerRealm(protocol, token);
  if (realm === undefined || !realm.realm.settings.enabled) throw unauthorized();
  const verified = await verifyAccessToken(protocol, realm, token);
  if (verified.outcome !== 'active') throw unauthorized();
  const { origin } = request.headers;
  if (origin !== undefined && isAllowedOrigin(protocol, verified.client, origin)) readable.add(request);
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
 * Headers that let a page read the answer to its proved request: where the token's client names the page's origin,
 * as at the token endpoint (facts §1), and `Location` with them.
 */
export function originHeaders(request: FastifyRequest): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined || !readable.has(request)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'Location, Access-Control-Allow-Methods',
  };
}
