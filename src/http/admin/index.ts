// Rows of the URL table below /admin/realms.
// Owns: proving the caller, reading bodies and parameters, turning refusals into statuses.
// Must not know: what an administrator may do (admin decides).
// Start at define.ts.
import type { Route } from '../route.ts';
import { clientRoutes } from './client-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { restRoutes } from './not-built.ts';
import { realmRoutes } from './realm-routes.ts';
import { roleRoutes } from './role-routes.ts';
import { userRoutes } from './user-routes.ts';

export { renderAdminError } from './render-error.ts';

/** The administrative API (facts §7). */
export const adminRoutes: Route[] = [
  ...realmRoutes,
  ...userRoutes,
  ...clientRoutes,
  ...roleRoutes,
  ...groupRoutes,
  ...eventRoutes,
  ...restRoutes,
];
