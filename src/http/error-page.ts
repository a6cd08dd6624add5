import type { FastifyReply, FastifyRequest } from 'fastify';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Whether a caller prefers a page to JSON, as a browser's navigation does. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept;
  if (accept === undefined || !accept.includes('text/html')) return false;
  const json = accept.indexOf('application/json');
  return json < 0 || accept.indexOf('text/html') < json;
}

/** A small page that says what is wrong; nothing of the request is repeated unescaped. */
export function sendErrorPage(reply: FastifyReply, status: number, message: string): FastifyReply {
  const text = message.replace(/[&<>"']/g, (character) => escapes[character]!);
  return reply
    .code(status)
    .header('content-type', 'text/html;charset=utf-8')
    .send(
      `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>We are sorry...</title></head>` +
        `<body><h1 id="kc-page-title">We are sorry...</h1><p id="kc-error-message">${text}</p></body></html>\n`,
    );
}
