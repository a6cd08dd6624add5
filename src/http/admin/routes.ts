import { whoAmI } from '../../admin/index.ts';
import { forCaller, IdkitError } from '../../core/index.ts';
import type { Route } from '../url-table/route.ts';
import type { AdminRow } from './admin-row.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { sendJson } from './call.ts';
import { clientRows } from './client-routes.ts';
import { eventRows } from './event-routes.ts';
import { groupRows } from './group-routes.ts';
import { restRoutes, restRows } from './not-implemented.ts';
import { readQuery } from './query.ts';
import { realmRows, realmsRows } from './realm-routes.ts';
import { roleRows } from './role-routes.ts';
import { adminRoute, realmsRoute } from './run-row.ts';
import { userRows } from './user-routes.ts';

/** What Keycloak's console asks first; it lies beside the administrative API, not below it. */
const whoAmIRoute: Route = {
  method: 'GET',
  url: '/admin/:realm/console/whoami',
  handle: async (services, request, reply) => {
    const caller = await authenticate(services, request);
    reply.headers(originHeaders(request));
    const { realm } = request.params as { realm: string };
    const of = readQuery(request).text('currentRealm');
    return sendJson(reply, await whoAmI(services.admin, caller, { realm, of }));
  },
};

/** Everything below `/admin/realms/{realm}` as data: method, path, right, and the records that it writes (facts §7). */
export const adminRows: readonly AdminRow[] = [
  ...realmRows,
  ...userRows,
  ...clientRows,
  ...roleRows,
  ...groupRows,
  ...eventRows,
  ...restRows,
];

const rows: readonly Route[] = [
  ...realmsRows.map(realmsRoute),
  ...adminRows.map(adminRoute),
  whoAmIRoute,
  ...restRoutes,
];

/** The administrative API (facts §7). */
export const adminRoutes: readonly Route[] = rows.map(whileWanted);

/** A read ends early where its caller goes away before the answer: nobody pays for a search that nobody reads. */
function whileWanted(route: Route): Route {
  if (route.method !== 'GET') return route;
  return {
    ...route,
    handle: (services, request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished)
          gone.abort(new IdkitError('IDKIT_UNREACHABLE', 'the caller of a read of administrators is gone'));
      });
      return forCaller(gone.signal, () => route.handle(services, request, reply));
    },
  };
}
