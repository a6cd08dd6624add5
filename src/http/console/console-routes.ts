import type { FastifyReply, FastifyRequest } from 'fastify';
import { getRealm } from '../../protocol/index.ts';
import { realmOf } from '../request/realm-request.ts';
import { sendGlobalError } from '../responses/error-responses.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Route } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';
import { type ConsoleFile, consoleFiles } from './console-files.ts';

/** The Content-Security-Policy of the console. It allows only scripts, styles and API calls of the same origin. */
const CONSOLE_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; " +
  "form-action 'none'; frame-ancestors 'self'; base-uri 'none'";

const NOT_BUILT = 'The console was not built: run "npm run build:console" in the checkout';

/** The routes of the console at `/admin/{realm}/console/`, and of the redirects to it. */
export const consoleRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/',
    handle: async (services, _request, reply) =>
      reply.redirect(`${services.protocol.baseUrl}/admin/`, STATUS.found),
  },
  {
    method: 'GET',
    url: '/admin',
    handle: async (services, _request, reply) =>
      reply.redirect(`${services.protocol.baseUrl}/admin/master/console/`, STATUS.found),
  },
  {
    method: 'GET',
    url: '/admin/:realm/console',
    handle: async (services, request, reply) => {
      const realm = realmOf(request);
      await getRealm(services.protocol, realm);
      // The page loads its files by relative URLs, so its own URL must end with a slash.
      const [path = '', query] = request.url.split('?', 2);
      if (!path.endsWith('/')) {
        const to = `${services.protocol.baseUrl}/admin/${encodeURIComponent(realm)}/console/`;
        return reply.redirect(query === undefined ? to : `${to}?${query}`, STATUS.found);
      }
      const files = await consoleFiles();
      if (files === undefined) return sendGlobalError(request, reply, STATUS.notImplemented, NOT_BUILT);
      reply.header('cache-control', 'no-cache');
      return sendFile(request, reply, files.page);
    },
  },
  {
    method: 'GET',
    url: '/admin/:realm/console/assets/:name',
    handle: async (_services, request, reply) => {
      const name = pathParameter(request, 'name');
      const file = (await consoleFiles())?.assets.get(name);
      if (file === undefined) return sendGlobalError(request, reply, STATUS.notFound, 'Not Found');
      reply.header('cache-control', 'public, max-age=31536000, immutable');
      return sendFile(request, reply, file);
    },
  },
];

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  reply
    .header('content-security-policy', CONSOLE_POLICY)
    .header('content-type', file.contentType)
    .header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.content);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
}
