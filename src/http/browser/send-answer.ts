import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BrowserAnswer } from '../../browser/index.ts';
import { PAGE_STATUSES } from '../answers/wire-errors.ts';
import { realmOf } from '../request/realm-request.ts';
import type { Services } from '../url-table/route.ts';
import { basePathOf, cookiePath, isSecureContext, serializeCookie } from './cookies.ts';
import { findLogo, logoUrl } from './resource-routes.ts';

/** Nothing of a login is kept by a browser or a proxy (facts §12). */
const NO_STORE = 'no-store, must-revalidate, max-age=0';

let pagesLoading: Promise<typeof import('../pages/index.ts')> | undefined;

/** Loaded at the first page; an `import()` at each one is not free. */
function loadPages(): Promise<typeof import('../pages/index.ts')> {
  pagesLoading ??= import('../pages/index.ts');
  return pagesLoading;
}

/** Sends what the rules answered: a page, a redirect, a form that posts itself or nothing, with its cookies. */
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
      return reply.code(302).header('location', headerUrl(answer.to)).send();
    case 'form-post': {
      const pages = await loadPages();
      // The rules let no such URI through; this is the last door.
      if (pages.safeLink(answer.to) === undefined) throw new Error('a form would post to a script');
      const locale = request.headers['accept-language']?.slice(0, 2) ?? 'en';
      const page = pages.renderFormPost(answer, pages.findTexts(locale), { basePath: basePathOf(baseUrl) });
      return sendPage(reply, 200, page);
    }
    case 'page': {
      const { renderPage } = await loadPages();
      const logo = findLogo(services.logoDirectory, realm);
      const basePath = basePathOf(baseUrl);
      const place = { basePath, ...(logo === undefined ? {} : { logo: basePath + logoUrl(realm, logo) }) };
      return sendPage(reply, PAGE_STATUSES[answer.name].status, renderPage(answer.frame, answer.page, place));
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

/** A URL as a header may hold it: a stored redirect URI can have letters beyond ASCII. */
function headerUrl(url: string): string {
  return url.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text.toWellFormed()));
}
