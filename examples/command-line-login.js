// A person logs in to a command-line program: the browser opens the service and returns to the loopback address of this
// machine (RFC 8252 §7.3). The client `terminal` of examples/realm.json has no secret.
//
//   node examples/command-line-login.js

import { once } from 'node:events';
import { createServer } from 'node:http';
import { openNativeSession } from 'idkit/client';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', API = 'http://127.0.0.1:4000' } = process.env;

const listener = createServer().listen(0, '127.0.0.1');
await once(listener, 'listening');
const redirectUri = `http://127.0.0.1:${listener.address().port}/callback`;

const session = openNativeSession({
  issuer: `${BASE_URL}/realms/${REALM}`,
  clientId: 'terminal',
  redirectUri,
  apiOrigins: [new URL(API).origin],
  openUrl: (url) => console.log(`Open this page in your browser: ${url}`),
});

/** The address that the browser returns to. Every other path is 404. */
const came = new Promise((resolve) => {
  listener.on('request', (request, response) => {
    const here = request.url?.startsWith('/callback?');
    response.writeHead(here ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    });
    response.end(here ? 'You can close this page and go back to the terminal.' : 'Not found.');
    if (here) resolve(`${redirectUri}${request.url.slice('/callback'.length)}`);
  });
});

await session.login();
await session.completeLogin(await came);
listener.close();
console.log(`logged in as ${session.state.user.preferred_username}`);

const answer = await session.fetch(`${API}/orders`);
console.log(answer.ok ? `${(await answer.json()).orders.length} orders` : `the API answers ${answer.status}`);
await session.logout();
console.log('logged out');
