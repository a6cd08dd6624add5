import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** The path of the redirect URI. The port differs between logins (RFC 8252 §7.3). */
export const CALLBACK_PATH = '/callback';
const HOST = '127.0.0.1';

/** The redirect of a browser to this machine. */
export interface Redirect {
  /** The whole address, with the parameters of the service. */
  address: string;
  /** Shows the result of the login in the browser. */
  respond(result: { title: string; text: string }): Promise<void>;
}

/** A listener on the loopback interface that waits for one redirect. */
export interface Loopback {
  redirectUri: string;
  /** Resolves with the redirect that has this `state`. Other requests get an error and change nothing. */
  redirect(state: string): Promise<Redirect>;
  close(): void;
}

/**
 * Listens on the loopback interface.
 *
 * @param port 0 chooses a free port
 * @throws IDKIT_PORT_TAKEN
 */
export async function openLoopback(port: number): Promise<Loopback> {
  let expected: { state: string; resolve(redirect: Redirect): void } | undefined;
  const server = createServer((request, response) => {
    const address = URL.parse(request.url ?? '', `http://${HOST}`);
    const isRedirect = request.method === 'GET' && address?.pathname === CALLBACK_PATH;
    // Any program and any page can send a request here, but only the service knows the state.
    if (!isRedirect || expected === undefined || address.searchParams.get('state') !== expected.state)
      return void send(response, isRedirect ? 400 : 404, {
        title: 'Not a login',
        text: 'This address does not belong to the login that idkit is waiting for.',
      });
    expected.resolve({
      address: address.href,
      respond: (result) => send(response, 200, result),
    });
    expected = undefined;
  });
  server.listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (systemErrorCode(error) !== 'EADDRINUSE') throw error;
    throw new IdkitError('IDKIT_PORT_TAKEN', `another program uses port ${port} of ${HOST}`, {
      hints: ['choose another port with --port, or omit --port for a free one'],
    });
  }
  const bound = server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    redirectUri: `http://${HOST}:${boundPort}${CALLBACK_PATH}`,
    redirect: (state) =>
      new Promise((resolve) => {
        expected = { state, resolve };
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sends a page. The promise resolves when the response is sent or the browser has closed the connection. */
function send(
  response: ServerResponse,
  status: number,
  { title, text }: { title: string; text: string },
): Promise<void> {
  // A person can close the window while the login is completed. Then no further event comes.
  if (response.closed || response.destroyed) return Promise.resolve();
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 15vh auto; max-width: 32rem; padding: 0 1rem }</style>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
</html>
`);
  return closed;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
