import type { Socket } from 'node:net';
import { statusText } from './error-answers.ts';

/**
 * Answers a connection whose bytes are no HTTP request, or whose headers are too large or too slow, in the same
 * shape as every other fault, and closes it.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  if (socket.writable) {
    const text = statusText(status);
    const body = JSON.stringify({ error: text });
    socket.write(
      `${text.replace('HTTP', 'HTTP/1.1')}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
