import { forCaller, IdkitError } from '../../core/index.ts';
import type { Route } from '../url-table/route.ts';
import type { AdminRow } from './admin-row.ts';
import { clientRows } from './client-routes.ts';
import { componentRows } from './component-routes.ts';
import { eventRows } from './event-routes.ts';
import { groupRows } from './group-routes.ts';
import { restRoutes, restRows } from './not-implemented.ts';
import { outsideRoutes } from './outside-routes.ts';
import { realmRows, realmsRows } from './realm-routes.ts';
import { roleRows } from './role-routes.ts';
import { adminRoute, realmsRoute } from './run-row.ts';
import { deletedRealmRoutes, trashRows } from './trash-routes.ts';
import { userRows } from './user-routes.ts';

/**
 * The table of all routes below `/admin/realms/{realm}` (docs/keycloak/admin-api.md). Routes of a new file have to be
 * added here.
 */
export const adminRows: readonly AdminRow[] = [
  ...realmRows,
  ...userRows,
  ...clientRows,
  ...roleRows,
  ...groupRows,
  ...eventRows,
  ...componentRows,
  ...trashRows,
  ...restRows,
];

const rows: readonly Route[] = [
  ...realmsRows.map(realmsRoute),
  ...adminRows.map(adminRoute),
  ...outsideRoutes,
  ...deletedRealmRoutes,
  ...restRoutes,
];

/** The routes of the administrative API. */
export const adminRoutes: readonly Route[] = rows.map(forAdministrator);

/**
 * Marks the work of a route as administrative. If the caller of a read disconnects before the response, its database
 * queries are cancelled. A write continues after its first change has started.
 */
function forAdministrator(route: Route): Route {
  return {
    ...route,
    handle: (services, request, reply) => {
      const aborted = new AbortController();
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished)
          aborted.abort(
            new IdkitError('IDKIT_UNREACHABLE', 'the caller of the administrative API has disconnected'),
          );
      });
      const handle = () => route.handle(services, request, reply);
      return forCaller(aborted.signal, handle, { stops: route.method === 'GET' });
    },
  };
}
