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
import { preflight } from '../answers/cors.ts';
import { wantsPage } from '../answers/error-answers.ts';
import { answerNotFound, notBuilt } from '../answers/not-found.ts';
import { protocolRequest, sendAnswer } from '../request/realm-request.ts';
import type { Route, Services } from '../url-table/route.ts';
import { browserRequest } from './browser-request.ts';
import { browserRoute } from './login-routes.ts';

const account = '/realms/:realm/account';

const PAGES: Readonly<Record<AccountPageName, BrowserEndpoint>> = {
  profile: accountProfile,
  password: accountPassword,
  sessions: accountSessions,
  applications: accountApplications,
};

/** The account pages, and what Keycloak's account API answers at their root to programs. */
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
        ? answerNotFound(services, request, reply)
        : notBuilt(request, 'This part of the account API'),
  },
];

function pageRoute(method: 'GET' | 'POST', url: string, endpoint: BrowserEndpoint): Route {
  const page = browserRoute(method, url, endpoint);
  return {
    ...page,
    handle: async (services, request, reply) => {
      if (!asksForJson(request)) return page.handle(services, request, reply);
      if (method !== 'GET' || url !== account) return notBuilt(request, 'This part of the account API');
      return sendAnswer(
        reply.header('cache-control', 'no-cache, no-store'),
        await represent(services, request),
      );
    },
  };
}

function represent(services: Services, request: FastifyRequest) {
  const metadata = browserRequest(request).query.get('userProfileMetadata') !== 'false';
  return accountRepresentation(services.protocol, protocolRequest(request), { metadata });
}

/** As Keycloak tells them apart, and whoever brings a token: no browser does for a page. */
function asksForJson({ headers }: FastifyRequest): boolean {
  const json = 'application/json';
  return (
    headers.accept?.includes(json) === true ||
    headers['content-type']?.startsWith(json) === true ||
    /^bearer /i.test(headers.authorization ?? '')
  );
}
