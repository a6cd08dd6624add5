// A server that logs people in and calls the API for them. Its client `portal` is confidential. The server keeps the
// tokens, and the browser gets only a cookie.
//
//   CLIENT_SECRET=change-me-portal-secret node examples/server-login.js

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { openNativeSession } from 'idkit/client';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', API = 'http://127.0.0.1:4000' } = process.env;
const { PORT = '3001', ORIGIN = `http://localhost:${PORT}`, CLIENT_SECRET } = process.env;
/** A session that nobody uses ends after this time. Until then, its tokens are renewed. */
const IDLE_MILLISECONDS = 30 * 60_000;
/** A login that nobody completes ends after this time, so that it does not fill the memory. */
const LOGIN_MILLISECONDS = 10 * 60_000;
/** The seconds for which the realm allows to repeat a refresh whose response was lost: its `refreshGraceSeconds`. */
const REFRESH_GRACE_SECONDS = Number(process.env.REFRESH_GRACE_SECONDS ?? 0);
/** Over https, the prefix keeps other hosts of the domain from setting the cookie. */
const COOKIE = ORIGIN.startsWith('https:') ? '__Host-portal' : 'portal';

/** The sessions of this process, by the value of their cookie. Several processes need a shared store instead. */
const sessions = new Map();

/** Stores a session under a new cookie, which replaces an earlier one. */
function keep(entry) {
  sessions.delete(entry.cookie);
  entry.cookie = randomBytes(32).toString('base64url');
  sessions.set(entry.cookie, entry);
  touch(entry);
  const secure = ORIGIN.startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${entry.cookie}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

function touch(entry) {
  clearTimeout(entry.timer);
  const milliseconds = userOf(entry) === undefined ? LOGIN_MILLISECONDS : IDLE_MILLISECONDS;
  entry.timer = setTimeout(() => drop(entry), milliseconds).unref();
}

function drop(entry) {
  clearTimeout(entry.timer);
  sessions.delete(entry.cookie);
  entry.session.close();
}

function find(request) {
  const [, cookie] = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '') ?? [];
  const entry = sessions.get(cookie);
  if (entry !== undefined) touch(entry);
  return entry;
}

const routes = {
  async 'GET /'(request, response) {
    const user = userOf(find(request));
    const page =
      user === undefined
        ? '<p role="status">You are not logged in.</p><a href="/login">Log in</a>'
        : `<p role="status">Hello, ${escapeHtml(user.name ?? user.preferred_username)}</p>
           <a href="/orders">Show my orders</a>
           <form method="post" action="/logout"><button>Log out</button></form>`;
    send(response, page);
  },

  async 'GET /login'(request, response) {
    const returnTo = ownAddress(new URL(request.url, ORIGIN).searchParams.get('returnTo'));
    // A link on another site must not end the session of a user who is logged in.
    if (userOf(find(request)) !== undefined) return response.writeHead(303, { location: returnTo }).end();
    const entry = { returnTo };
    entry.session = openNativeSession({
      issuer: `${BASE_URL}/realms/${REALM}`,
      clientId: 'portal',
      clientSecret: () => CLIENT_SECRET,
      redirectUri: `${ORIGIN}/callback`,
      apiOrigins: [new URL(API).origin],
      refreshGraceSeconds: REFRESH_GRACE_SECONDS,
      openUrl: (url) => {
        entry.url = url;
      },
    });
    await entry.session.login();
    response.writeHead(303, { location: entry.url, 'set-cookie': keep(entry) }).end();
  },

  async 'GET /callback'(request, response) {
    const entry = find(request);
    if (entry === undefined) return response.writeHead(303, { location: '/login' }).end();
    await entry.session.completeLogin(new URL(request.url, ORIGIN).href);
    // The new cookie is one that nobody else could have set before the login.
    response.writeHead(303, { location: entry.returnTo, 'set-cookie': keep(entry) }).end();
  },

  async 'GET /orders'(request, response) {
    const entry = find(request);
    if (userOf(entry) === undefined)
      return response.writeHead(303, { location: '/login?returnTo=%2Forders' }).end();
    const answer = await entry.session.fetch(`${API}/orders`);
    const lines = answer.ok ? (await answer.json()).orders.map(({ what }) => what) : ['no access'];
    send(response, `<ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`);
  },

  async 'POST /logout'(request, response) {
    // SameSite=Lax does not keep other hosts of the same domain from sending this form.
    if (request.headers.origin !== ORIGIN)
      return response.writeHead(403).end('The request is from another site.');
    const entry = find(request);
    // The service ends its session too, so the next login requires the password again.
    if (entry !== undefined) await entry.session.logout().finally(() => drop(entry));
    response.writeHead(303, { location: '/' }).end();
  },
};

function userOf(entry) {
  return entry?.session.state.name === 'logged_in' ? entry.session.state.user : undefined;
}

/** Returns the address if it belongs to this server, otherwise that of the first page. */
function ownAddress(address) {
  const url = URL.canParse(address ?? '', ORIGIN) ? new URL(address ?? '', ORIGIN) : new URL(ORIGIN);
  // The whole address, because the path alone can begin with `//`, which a browser reads as another host.
  return url.origin === ORIGIN ? url.href : `${ORIGIN}/`;
}

function send(response, body) {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    'cache-control': 'no-store',
  });
  response.end(`<!doctype html><html lang="en"><title>Portal</title><h1>Portal</h1>${body}</html>`);
}

function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, ORIGIN);
  const route = routes[`${request.method} ${pathname}`] ?? (async () => response.writeHead(404).end());
  route(request, response).catch((error) => {
    // The service ended the session, for example after a logout elsewhere.
    if (error.code === 'logged_out') return response.writeHead(303, { location: '/login' }).end();
    // The message names the cause, such as a missing secret, and contains no token.
    console.error(`${error.code ?? error.name}: ${error.message}`);
    if (!response.headersSent) response.writeHead(502).end('The login is not available. Try again later.');
  });
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`the portal is on ${ORIGIN}/`));
