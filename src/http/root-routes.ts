import type { Route } from './route.ts';

/** Rows that belong to no realm. */
export const rootRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/',
    handle: async (services, _request, reply) => reply.redirect(`${services.protocol.baseUrl}/admin/`, 302),
  },
];
