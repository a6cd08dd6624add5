import type { FastifyReply, FastifyRequest } from 'fastify';
import { discoveryDocument, getRealm, publishedKeys, realmInfo, userInfo } from '../../protocol/index.ts';
import { nameRealm, protocolRequest, realmOf, sendAnswer } from '../request/realm-request.ts';
import { allowAnyOrigin, preflight } from '../responses/cors.ts';
import { sendNotFound } from '../responses/not-found.ts';
import type { Route, Services } from '../url-table/route.ts';

const base = '/realms/:realm/protocol/openid-connect';

/** The routes of a realm's description, public keys and discovery documents, and of user info. */
export const metadataRoutes: readonly Route[] = [
  { method: 'GET', url: '/realms/:realm', handle: sendRealm },
  { method: 'GET', url: `${base}/certs`, handle: sendKeys },
  preflight(`${base}/certs`, 'GET'),
  { method: 'GET', url: `${base}/userinfo`, handle: sendUserInfo },
  { method: 'POST', url: `${base}/userinfo`, handle: sendUserInfo },
  preflight(`${base}/userinfo`, 'GET, HEAD, OPTIONS'),
  { method: 'GET', url: '/realms/:realm/.well-known/openid-configuration', handle: sendDiscovery },
  preflight('/realms/:realm/.well-known/openid-configuration', 'GET'),
  { method: 'GET', url: '/realms/:realm/.well-known/oauth-authorization-server', handle: sendDiscovery },
  preflight('/realms/:realm/.well-known/oauth-authorization-server', 'GET'),
  // Keycloak responds to POST with 404 for these names (docs/keycloak/keys.md#discovery).
  { method: 'POST', url: '/realms/:realm/.well-known/openid-configuration', handle: sendNotFound },
  { method: 'POST', url: '/realms/:realm/.well-known/oauth-authorization-server', handle: sendNotFound },
  { method: 'GET', url: '/.well-known/oauth-authorization-server/realms/:realm', handle: sendDiscovery },
  preflight('/.well-known/oauth-authorization-server/realms/:realm', 'GET'),
];

async function sendRealm(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const configuration = await getRealm(services.protocol, realmOf(request));
  return allowAnyOrigin(request, reply).send(realmInfo(services.protocol, configuration));
}

async function sendKeys(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const configuration = await getRealm(services.protocol, realmOf(request));
  reply.header('cache-control', 'no-cache');
  return allowAnyOrigin(request, reply).send(publishedKeys(services.protocol, configuration));
}

async function sendDiscovery(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const configuration = await getRealm(services.protocol, realmOf(request));
  reply.header('cache-control', 'must-revalidate, no-cache, no-store, no-transform');
  return allowAnyOrigin(request, reply).send(discoveryDocument(services.protocol, configuration));
}

async function sendUserInfo(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const work = userInfo(services.protocol, protocolRequest(request));
  const answer = await nameRealm(request, work);
  reply.header('cache-control', 'no-cache, no-store');
  if (answer.signed === undefined) return sendAnswer(reply, answer);
  return sendAnswer(reply.header('content-type', 'application/jwt'), { ...answer, body: answer.signed });
}
