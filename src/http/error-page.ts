import type { FastifyReply, FastifyRequest } from 'fastify';

/** Whether a caller prefers a page to JSON, as a browser's navigation does. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept;
  if (accept === undefined || !accept.includes('text/html')) return false;
  const json = accept.indexOf('application/json');
  return json < 0 || accept.indexOf('text/html') < json;
}

/**
 * A page that says what is wrong, in the frame of all pages. Answers later than it returns, as Fastify allows a
 * handler that returns the reply: the pages are loaded when one is first asked for.
 */
export function sendErrorPage(reply: FastifyReply, status: number, message: string): FastifyReply {
  reply.code(status).header('content-type', 'text/html;charset=utf-8');
  import('./pages/index.ts')
    .then(({ renderPlainError }) => {
      const page = renderPlainError(message, { basePath: pathToRoot(reply.request.url) });
      reply.header('content-security-policy', page.policy).send(page.markup);
    })
    .catch((error: unknown) => reply.send(error));
  return reply;
}

/** From a request's path up to the base URL, which may lie below a path that a proxy cuts off. */
function pathToRoot(url: string): string {
  const slashes = url.split('?', 1)[0]!.split('/').length - 1;
  return `.${'/..'.repeat(Math.max(0, slashes - 1))}`;
}
