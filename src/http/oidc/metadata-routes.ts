import type { FastifyReply, FastifyRequest } from 'fastify';
import { discoveryDocument, getRealm, publishedKeys, realmInfo, userInfo } from '../../protocol/index.ts';
import { allowAnyOrigin, preflight } from '../answers/cors.ts';
import { answerNotFound } from '../answers/not-found.ts';
import { nameRealm, protocolRequest, realmOf, sendAnswer } from '../request/realm-request.ts';
import type { Route, Services } from '../url-table/route.ts';

const base = '/realms/:realm/protocol/openid-connect';

/** Keys and documents that every page may read. */
export const metadataRoutes: readonly Route[] = [
  { method: 'GET', url: '/realms/:realm', handle: answerRealm },
  { method: 'GET', url: `${base}/certs`, handle: answerKeys },
  preflight(`${base}/certs`, 'GET'),
  { method: 'GET', url: `${base}/userinfo`, handle: answerUserInfo },
  { method: 'POST', url: `${base}/userinfo`, handle: answerUserInfo },
  preflight(`${base}/userinfo`, 'GET, HEAD, OPTIONS'),
  { method: 'GET', url: '/realms/:realm/.well-known/openid-configuration', handle: answerDiscovery },
  preflight('/realms/:realm/.well-known/openid-configuration', 'GET'),
  { method: 'GET', url: '/realms/:realm/.well-known/oauth-authorization-server', handle: answerDiscovery },
  preflight('/realms/:realm/.well-known/oauth-authorization-server', 'GET'),
  // Keycloak knows these names by GET alone (facts §5.7).
  { method: 'POST', url: '/realms/:realm/.well-known/openid-configuration', handle: answerNotFound },
  { method: 'POST', url: '/realms/:realm/.well-known/oauth-authorization-server', handle: answerNotFound },
  { method: 'GET', url: '/.well-known/oauth-authorization-server/realms/:realm', handle: answerDiscovery },
  preflight('/.well-known/oauth-authorization-server/realms/:realm', 'GET'),
];

async function answerRealm(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const configuration = await getRealm(services.protocol, realmOf(request));
  return allowAnyOrigin(request, reply).send(realmInfo(services.protocol, configuration));
}

async function answerKeys(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const configuration = await getRealm(services.protocol, realmOf(request));
  reply.header('cache-control', 'no-cache');
  return allowAnyOrigin(request, reply).send(publishedKeys(services.protocol, configuration));
}

async function answerDiscovery(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const configuration = await getRealm(services.protocol, realmOf(request));
  reply.header('cache-control', 'must-revalidate, no-cache, no-store, no-transform');
  return allowAnyOrigin(request, reply).send(discoveryDocument(services.protocol, configuration));
}

async function answerUserInfo(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const work = userInfo(services.protocol, protocolRequest(request));
  const answer = await nameRealm(request, work);
  reply.header('cache-control', 'no-cache, no-store');
  if (answer.signed === undefined) return sendAnswer(reply, answer);
  return sendAnswer(reply.header('content-type', 'application/jwt'), { ...answer, body: answer.signed });
}
