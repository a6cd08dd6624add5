import type { FastifyRequest } from 'fastify';
import {
  ACCOUNT_PATHS,
  type AccountPageName,
  accountApplications,
  accountPassword,
  accountProfile,
  accountRepresentation,
  accountSessions,
  type BrowserEndpoint,
} from '../../browser/index.ts';
import { protocolRequest, sendAnswer } from '../request/realm-request.ts';
import { preflight } from '../responses/cors.ts';
import { wantsPage } from '../responses/error-responses.ts';
import { refuseNotBuilt, sendNotFound } from '../responses/not-found.ts';
import type { Route } from '../url-table/route.ts';
import { browserRequest } from './browser-request.ts';
import { browserRoute } from './login-routes.ts';

const account = '/realms/:realm/account';

const PAGES: Readonly<Record<AccountPageName, BrowserEndpoint>> = {
  profile: accountProfile,
  password: accountPassword,
  sessions: accountSessions,
  applications: accountApplications,
};

/**
 * The routes of the account pages. A program that requests `/realms/{realm}/account` gets the user's profile instead of
 * a page, as in Keycloak's account API.
 */
export const accountRoutes: readonly Route[] = [
  ...(Object.keys(PAGES) as AccountPageName[]).flatMap((name) => {
    const url = `${account}/${ACCOUNT_PATHS[name]}`.replace(/\/$/, '');
    return (['GET', 'POST'] as const).map((method) => pageRoute(method, url, PAGES[name]));
  }),
  preflight(account, 'GET, HEAD, OPTIONS'),
  {
    method: 'GET',
    url: `${account}/*`,
    handle: async (services, request, reply) =>
      wantsPage(request)
        ? sendNotFound(services, request, reply)
        : refuseNotBuilt(request, 'This part of the account API'),
  },
];

function pageRoute(method: 'GET' | 'POST', url: string, endpoint: BrowserEndpoint): Route {
  const page = browserRoute(method, url, endpoint);
  return {
    ...page,
    handle: async (services, request, reply) => {
      if (!wantsJson(request)) return page.handle(services, request, reply);
      if (method !== 'GET' || url !== account) return refuseNotBuilt(request, 'This part of the account API');
      reply.header('cache-control', 'no-cache, no-store');
      const metadata = browserRequest(request).query.get('userProfileMetadata') !== 'false';
      const profile = await accountRepresentation(services.protocol, protocolRequest(request), { metadata });
      return sendAnswer(reply, profile);
    },
  };
}

/**
 * Whether a program, not a browser, sent the request. Checks the media types as Keycloak does. A bearer token also
 * identifies a program, because browsers request pages without one.
 */
function wantsJson({ headers }: FastifyRequest): boolean {
  const json = 'application/json';
  return (
    headers.accept?.includes(json) === true ||
    headers['content-type']?.startsWith(json) === true ||
    /^bearer /i.test(headers.authorization ?? '')
  );
}
