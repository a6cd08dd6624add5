import { type Caller, forbidden, holdsMasterRole, previewRealm, whoAmI } from '../../admin/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { notBuilt } from './not-implemented.ts';
import { readQuery } from './query.ts';
import { parseLargeBody, readJson } from './read-json.ts';
import { sendJson } from './send-pages.ts';

/**
 * Returns the caller and their roles. Keycloak's console sends this request first. Its path is not below
 * `/admin/realms`.
 */
const whoAmIRoute: Route = {
  method: 'GET',
  url: '/admin/:realm/console/whoami',
  handle: async (services, request, reply) => {
    const caller = await authenticate(services, request);
    reply.headers(originHeaders(request));
    const realm = pathParameter(request, 'realm');
    const of = readQuery(request).text('currentRealm');
    return sendJson(reply, await whoAmI(services.admin, caller, { realm, of }));
  },
};

/** Describes what an import of a realm file would do, for the console. Keycloak has no such path. */
const importPreviewRoute: Route = {
  method: 'POST',
  url: '/admin/import-preview',
  authorize: async (services, request) =>
    checkMasterRole(services, await authenticate(services, request), 'create-realm'),
  handle: async (services, request, reply) => {
    const caller = await authenticate(services, request);
    reply.headers(originHeaders(request));
    await checkMasterRole(services, caller, 'create-realm');
    await parseLargeBody(request);
    return sendJson(reply, await previewRealm(services.admin, readJson(request)));
  },
};

/**
 * Reports the state of the service, its database and its backups, for the console. Only administrators of all realms
 * may see it. Keycloak has no such path.
 */
const operationsRoute: Route = {
  method: 'GET',
  url: '/admin/operations',
  handle: async (services, request, reply) => {
    const caller = await authenticate(services, request);
    reply.headers(originHeaders(request));
    await checkMasterRole(services, caller, 'admin');
    if (services.operations === undefined) throw notBuilt('GET', '/admin/operations');
    reply.header('cache-control', 'no-store');
    return sendJson(reply, await services.operations());
  },
};

/** @throws AdminRefusal 403 if the caller does not hold the role of realm master */
async function checkMasterRole({ admin }: Services, caller: Caller, role: string): Promise<void> {
  if (!(await holdsMasterRole(admin, caller, role))) throw forbidden();
}

/** The administrative routes outside `/admin/realms`. */
export const outsideRoutes: readonly Route[] = [whoAmIRoute, importPreviewRoute, operationsRoute];
