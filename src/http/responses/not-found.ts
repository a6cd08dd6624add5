import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WayOn } from '../../browser/index.ts';
import { Refusal } from '../../protocol/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { Services } from '../url-table/route.ts';
import { pathToRoot, sendGlobalError, wantsPage } from './error-responses.ts';
import { STATUS } from './statuses.ts';

/**
 * Responds to a path without a route as Keycloak 26 does. An unknown realm is reported first. For all other paths, the
 * response depends on the part of the API to which the path belongs (docs/keycloak/errors.md#unknown-realms-and-paths).
 */
export async function sendNotFound(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { notFound, methodNotAllowed } = STATUS;
  const [area, name, kind, protocol] = pathOf(request).split('/').slice(1);
  if (area === 'realms' && name) {
    const realm = await services.protocol.store.findRealm(decoded(name));
    if (realm === undefined) return sendGlobalError(request, reply, notFound, 'Realm does not exist');
    if (kind === 'protocol') {
      if (protocol !== undefined && protocol !== 'openid-connect')
        return sendGlobalError(request, reply, notFound, 'Protocol not found');
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return sendGlobalError(request, reply, methodNotAllowed);
    }
    return sendGlobalError(
      request,
      reply,
      notFound,
      undefined,
      await waysToAccount(services, request, realm),
    );
  }
  if (area === 'admin' && name === 'realms') return sendGlobalError(request, reply, notFound);
  return sendGlobalError(request, reply, notFound, 'Unable to find matching target resource method');
}

/** Returns the link from an unknown path of a realm to its account pages. Undefined if the realm has none. */
async function waysToAccount(
  { protocol }: Services,
  request: FastifyRequest,
  { realm }: RealmConfiguration,
): Promise<readonly WayOn[] | undefined> {
  if (!wantsPage(request) || !realm.settings.enabled) return undefined;
  const client = await protocol.store.findClient(realm.id, 'account');
  const url = `${pathToRoot(request.url)}/realms/${encodeURIComponent(realm.name)}/account/`;
  return client?.enabled ? [{ way: 'account', url }] : undefined;
}

/**
 * Rejects a request for a part of Keycloak that idkit does not have yet.
 *
 * @param part the subject of the message, such as `SAML`
 * @throws Refusal `not-built-yet` with the path
 */
export function refuseNotBuilt(request: FastifyRequest, part: string): never {
  throw new Refusal('not-built-yet', { description: `${part} is not implemented yet: ${pathOf(request)}` });
}

/** The path of a request, without its query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
