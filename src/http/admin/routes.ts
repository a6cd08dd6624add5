import type { Route } from '../route.ts';
import { clientRows } from './client-routes.ts';
import { eventRows } from './event-routes.ts';
import { groupRows } from './group-routes.ts';
import { restRoutes, restRows } from './not-built.ts';
import { realmRows, realmsRows } from './realm-routes.ts';
import { roleRows } from './role-routes.ts';
import type { AdminRow } from './row.ts';
import { adminRoute, realmsRoute } from './run-row.ts';
import { userRows } from './user-routes.ts';
import { whileWanted } from './while-wanted.ts';
import { whoAmIRoute } from './who-am-i.ts';

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
