import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, findRights } from '../../admin/index.ts';
import { findSsoSession } from '../../browser/index.ts';
import { matchLocale, PAGE_LOCALES } from '../../model/index.ts';
import { checkTransport, getRealm } from '../../protocol/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { sendErrorPage } from '../responses/error-responses.ts';
import { loadPages } from '../responses/load-pages.ts';
import { sendNotFound } from '../responses/not-found.ts';
import { STATUS } from '../responses/statuses.ts';
import { loadPreview } from '../themes/index.ts';
import type { Route, Services } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';
import { browserRequest } from './browser-request.ts';
import { basePathOf } from './cookies.ts';

const base = '/realms/:realm/theme-preview/:target/:theme';

/** The client whose roles the preview uses: that of the console, which the administrator is signed in to. */
const CONSOLE_CLIENT = 'security-admin-console';

/**
 * The preview of a theme for an administrator, with sample data and forms that cannot be sent. `:realm` is the realm
 * that the administrator is signed in to, because the cookies of a login are sent only below its path.
 */
export const previewRoutes: readonly Route[] = [
  { method: 'GET', url: base, handle: (services, request, reply) => preview(services, request, reply) },
  {
    method: 'GET',
    url: `${base}/:page`,
    handle: (services, request, reply) => preview(services, request, reply, pathParameter(request, 'page')),
  },
];

async function preview(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  page?: string,
): Promise<FastifyReply> {
  const { baseUrl } = services.protocol;
  const login = pathParameter(request, 'realm');
  const target = await findTarget(services, request);
  reply.header('cache-control', 'no-store');
  if (target === undefined) {
    const url = `${baseUrl}/admin/${encodeURIComponent(login)}/console/`;
    return sendErrorPage(request, reply, STATUS.forbidden, { ways: [{ way: 'sign-in', url }] });
  }
  const theme = pathParameter(request, 'theme');
  if (services.themes === undefined) return sendNotFound(services, request, reply);
  const segments = [login, target.realm.name, theme].map(encodeURIComponent);
  const wished = new URLSearchParams(request.url.split('?', 2)[1]).get('kc_locale') ?? 'en';
  const locale = matchLocale(PAGE_LOCALES, wished) ?? 'en';
  await loadPages(locale);
  const { renderPreviewIndex, renderPreviewPage } = await loadPreview();
  const shown = {
    configuration: target,
    theme,
    reading: await services.themes.read(theme),
    index: `${baseUrl}/realms/${segments[0]}/theme-preview/${segments[1]}/${segments[2]}`,
    locale,
    basePath: basePathOf(baseUrl),
  };
  const rendered = page === undefined ? renderPreviewIndex(shown) : renderPreviewPage(shown, page);
  if (rendered === undefined) return sendNotFound(services, request, reply);
  return reply
    .header('content-type', 'text/html;charset=utf-8')
    .header('content-security-policy', rendered.policy)
    .send(rendered.markup);
}

/**
 * Returns the realm of the preview. Undefined if the browser is not signed in, if the user may not view that realm, or if
 * it does not exist, so that the response does not reveal which realms exist.
 */
async function findTarget(
  { protocol, admin }: Services,
  request: FastifyRequest,
): Promise<RealmConfiguration | undefined> {
  const configuration = await getRealm(protocol, pathParameter(request, 'realm'));
  const sent = browserRequest(request);
  checkTransport(configuration, sent);
  if (!configuration.realm.settings.enabled) return undefined;
  const sso = await findSsoSession(protocol, configuration, sent);
  const { id: realmId, name: realmName } = configuration.realm;
  const client = await protocol.store.findClient(realmId, CONSOLE_CLIENT);
  const target = await protocol.store.findRealm(pathParameter(request, 'target'));
  if (sso === undefined || !client?.enabled || target === undefined) return undefined;
  const caller: Caller = {
    realmId,
    realmName,
    userId: sso.user.id,
    clientId: client.clientId,
    clientUuid: client.id,
    scopes: new Set(['openid']),
    ipAddress: request.ip,
  };
  return (await findRights(admin, caller, target)).has('viewRealm') ? target : undefined;
}
