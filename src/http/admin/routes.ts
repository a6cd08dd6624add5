import type { Route } from '../route.ts';
import { clientRoutes } from './client-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { restRoutes } from './not-built.ts';
import { realmRoutes } from './realm-routes.ts';
import { roleRoutes } from './role-routes.ts';
import { userRoutes } from './user-routes.ts';
import { whileWanted } from './while-wanted.ts';
import { whoAmIRoute } from './who-am-i.ts';

const rows: readonly Route[] = [
  ...realmRoutes,
  ...userRoutes,
  ...clientRoutes,
  ...roleRoutes,
  ...groupRoutes,
  ...eventRoutes,
  whoAmIRoute,
  ...restRoutes,
];

/** The administrative API (facts §7). */
export const adminRoutes: readonly Route[] = rows.map(whileWanted);
