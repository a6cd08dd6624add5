import {
  confirmLogout,
  findRefreshToken,
  logoutByRefreshToken,
  requestLogout,
} from '../../protocol/index.ts';
import { protocolRequest, sendEmpty } from '../realm-request.ts';
import type { Route } from '../route.ts';
import { browserRoute } from './login-routes.ts';

const base = '/realms/:realm/protocol/openid-connect';

const requested = browserRoute('POST', `${base}/logout`, requestLogout);

/** The logout endpoint: by refresh token (spec, "POST …/logout"), else by the browser (RP-Initiated Logout 1.0). */
export const logoutRoutes: readonly Route[] = [
  browserRoute('GET', `${base}/logout`, requestLogout),
  {
    ...requested,
    handle: async (services, request, reply) => {
      const parsed = protocolRequest(request);
      if (findRefreshToken(parsed) === undefined) return requested.handle(services, request, reply);
      reply.header('cache-control', 'no-cache');
      return sendEmpty(reply, 204, await logoutByRefreshToken(services.protocol, parsed));
    },
  },
  browserRoute('POST', `${base}/logout/logout-confirm`, confirmLogout),
];
