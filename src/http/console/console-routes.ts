import type { FastifyReply, FastifyRequest } from 'fastify';
import { getRealm } from '../../protocol/index.ts';
import { sendGlobalError } from '../answers/error-answers.ts';
import type { Route } from '../url-table/route.ts';
import { type ConsoleFile, consoleFiles } from './console-files.ts';

/** The policy of the console (contract §5): its own script, its own style, its own origin's API. */
const CONSOLE_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; " +
  "frame-ancestors 'self'; base-uri 'none'";

const NOT_BUILT = 'The console was not built: run "npm run build:console" in the checkout';

/** The console below `/admin/{realm}/console/`, for the administrators of that realm. */
export const consoleRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/',
    handle: async (services, _request, reply) => reply.redirect(`${services.protocol.baseUrl}/admin/`, 302),
  },
  {
    method: 'GET',
    url: '/admin',
    handle: async (services, _request, reply) =>
      reply.redirect(`${services.protocol.baseUrl}/admin/master/console/`, 302),
  },
  {
    method: 'GET',
    url: '/admin/:realm/console',
    handle: async (services, request, reply) => {
      const { realm } = request.params as { realm: string };
      await getRealm(services.protocol, realm);
      // The page names its files relative to itself, so it has one address, with the slash at its end.
      const [path = '', query] = request.url.split('?', 2);
      if (!path.endsWith('/')) {
        const to = `${services.protocol.baseUrl}/admin/${encodeURIComponent(realm)}/console/`;
        return reply.redirect(query === undefined ? to : `${to}?${query}`, 302);
      }
      const files = await consoleFiles();
      if (files === undefined) return sendGlobalError(request, reply, 501, NOT_BUILT);
      reply.header('cache-control', 'no-cache');
      return sendFile(request, reply, files.page);
    },
  },
  {
    method: 'GET',
    url: '/admin/:realm/console/assets/:name',
    handle: async (_services, request, reply) => {
      const { name } = request.params as { name: string };
      const file = (await consoleFiles())?.assets.get(name);
      if (file === undefined) return sendGlobalError(request, reply, 404, 'Not Found');
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
