import { resourceRoutes } from './browser/index.ts';
import { consoleRoutes } from './console/console-routes.ts';
import type { Route } from './route.ts';

/** Rows that belong to no realm's protocol: the root, the console and the pages' files. */
export const rootRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/',
    handle: async (services, _request, reply) => reply.redirect(`${services.protocol.baseUrl}/admin/`, 302),
  },
  ...consoleRoutes,
  ...resourceRoutes,
];
