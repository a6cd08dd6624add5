import type { FastifyReply } from 'fastify';
import { checkSessionFrame, confirmLogout, requestLogout } from '../../browser/index.ts';
import { findRefreshToken, getRealm, logoutByRefreshToken } from '../../protocol/index.ts';
import type { RenderedPage } from '../pages/index.ts';
import { protocolRequest, realmOf, sendEmpty } from '../request/realm-request.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Route } from '../url-table/route.ts';
import { browserRequest } from './browser-request.ts';
import { browserRoute } from './login-routes.ts';

const base = '/realms/:realm/protocol/openid-connect';

const browserLogout = browserRoute('POST', `${base}/logout`, requestLogout);

/**
 * The routes of the logout endpoint, of the session iframe, and of the pages with which clients check whether cookies
 * work in frames.
 */
export const sessionRoutes: readonly Route[] = [
  browserRoute('GET', `${base}/logout`, requestLogout),
  {
    ...browserLogout,
    handle: async (services, request, reply) => {
      const parsed = protocolRequest(request);
      // Programs send a form with a refresh token, and browsers send any other form (RP-Initiated Logout 1.0).
      if (findRefreshToken(parsed) === undefined) return browserLogout.handle(services, request, reply);
      reply.header('cache-control', 'no-cache');
      return sendEmpty(reply, STATUS.noContent, await logoutByRefreshToken(services.protocol, parsed));
    },
  },
  browserRoute('POST', `${base}/logout/logout-confirm`, confirmLogout),
  framed(`${base}/login-status-iframe.html`, async () => (await import('../pages/index.ts')).loginStatusPage),
  {
    method: 'GET',
    url: `${base}/login-status-iframe.html/init`,
    handle: async (services, request, reply) => {
      const { realm, query } = browserRequest(request);
      const verdict = await checkSessionFrame(services.protocol, {
        realm,
        clientId: query.get('client_id') ?? '',
        origin: query.get('origin') ?? '',
      });
      return reply
        .code(verdict === 'allowed' ? STATUS.noContent : STATUS.forbidden)
        .header('cache-control', 'no-cache')
        .send();
    },
  },
  framed(`${base}/3p-cookies/step1.html`, async () => (await import('../pages/index.ts')).cookieSteps[0]),
  framed(`${base}/3p-cookies/step2.html`, async () => (await import('../pages/index.ts')).cookieSteps[1]),
];

/** Creates the route of a page that pages of any origin may frame. */
function framed(url: string, load: () => Promise<RenderedPage>): Route {
  return {
    method: 'GET',
    url,
    handle: async (services, request, reply): Promise<FastifyReply> => {
      await getRealm(services.protocol, realmOf(request));
      const { markup, policy } = await load();
      return reply
        .removeHeader('x-frame-options')
        .header('content-type', 'text/html;charset=utf-8')
        .header('content-security-policy', policy)
        .header('cache-control', 'no-cache')
        .send(markup);
    },
  };
}
