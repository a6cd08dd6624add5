import type { FastifyReply } from 'fastify';
import { checkSessionFrame, getRealm } from '../../protocol/index.ts';
import type { RenderedPage } from '../pages/index.ts';
import { realmOf } from '../realm-request.ts';
import type { Route } from '../route.ts';
import { browserRequest } from './browser-request.ts';

const base = '/realms/:realm/protocol/openid-connect';

/** Pages that clients frame to learn of the login: the session iframe, and whether cookies work in frames. */
export const sessionRoutes: readonly Route[] = [
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
        .code(verdict === 'allowed' ? 204 : 403)
        .header('cache-control', 'no-cache')
        .send();
    },
  },
  framed(`${base}/3p-cookies/step1.html`, async () => (await import('../pages/index.ts')).cookieSteps[0]),
  framed(`${base}/3p-cookies/step2.html`, async () => (await import('../pages/index.ts')).cookieSteps[1]),
];

/** A page that any origin may frame (contract §5). */
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
