import { sendGlobalError } from './error-answers.ts';
import type { Route } from './route.ts';

const NO_CONSOLE =
  'The admin console is not built yet; "idkit admin" and the administrative API below /admin/realms do its work';

/** Rows that belong to no realm. */
export const rootRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/',
    handle: async (services, _request, reply) => reply.redirect(`${services.protocol.baseUrl}/admin/`, 302),
  },
  // Where the root leads to, and where bookmarks of Keycloak's console point to: told as what it is.
  ...['/admin', '/admin/:realm/console', '/admin/:realm/console/*'].map(
    (url): Route => ({
      method: 'GET',
      url,
      handle: async (_services, request, reply) => sendGlobalError(request, reply, 501, NO_CONSOLE),
    }),
  ),
];
