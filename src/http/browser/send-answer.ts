import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BrowserAnswer, preferredLocale } from '../../browser/index.ts';
import { realmOf } from '../request/realm-request.ts';
import { loadPages } from '../responses/load-pages.ts';
import { PAGE_STATUS, STATUS } from '../responses/statuses.ts';
import { findPageTheme } from '../themes/index.ts';
import type { Services } from '../url-table/route.ts';
import { basePathOf, cookiePath, isSecureContext, serializeCookie } from './cookies.ts';
import { findLogo, logoUrl } from './resource-routes.ts';

/**
 * The header `Cache-Control` of the login pages, which no browser or proxy may cache
 * (docs/keycloak/errors.md#security-headers).
 */
const NO_STORE = 'no-store, must-revalidate, max-age=0';

/** Sends an answer of src/browser with its cookies: a page, a redirect or a form that submits itself. */
export async function sendBrowserAnswer(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: BrowserAnswer,
): Promise<FastifyReply> {
  const { baseUrl } = services.protocol;
  const realm = realmOf(request);
  reply.header('cache-control', NO_STORE);
  if (answer.cookies.length > 0) {
    const place = { path: cookiePath(baseUrl, realm), secure: isSecureContext(request, baseUrl) };
    reply.header(
      'set-cookie',
      answer.cookies.map((change) => serializeCookie(change, place)),
    );
  }
  switch (answer.show) {
    case 'redirect':
      return reply.code(STATUS.found).header('location', headerUrl(answer.to)).send();
    case 'form-post': {
      const locale = preferredLocale(request.headers['accept-language']);
      const pages = await loadPages(locale);
      // src/browser has already rejected redirect URIs that could run a script. This check is a second line of defence.
      if (pages.safeLink(answer.to) === undefined)
        throw new Error('the target URL of a form_post response could run a script');
      const page = pages.renderFormPost(answer, pages.findTexts(locale), { basePath: basePathOf(baseUrl) });
      return sendPage(reply, STATUS.ok, page);
    }
    case 'page': {
      const { renderPage } = await loadPages(answer.frame.locale);
      const logo = findLogo(services.logoDirectory, realm);
      const basePath = basePathOf(baseUrl);
      const theme = await findPageTheme(services, answer.frame.theme, basePath);
      const place = {
        basePath,
        ...(logo === undefined ? {} : { logo: basePath + logoUrl(realm, logo) }),
        ...(theme === undefined ? {} : { theme }),
      };
      return sendPage(reply, PAGE_STATUS[answer.name], renderPage(answer.frame, answer.page, place));
    }
  }
}

function sendPage(
  reply: FastifyReply,
  status: number,
  page: { markup: string; policy: string },
): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'text/html;charset=utf-8')
    .header('content-security-policy', page.policy)
    .send(page.markup);
}

/** Encodes a URL for a header, because a stored redirect URI may contain non-ASCII characters. */
function headerUrl(url: string): string {
  return url.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text.toWellFormed()));
}
