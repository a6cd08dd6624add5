/**
 * Simulates the logins of many browsers in a separate process: keep-alive connections on plain sockets, closed loop.
 * Reads one JSON line of `BrowserOrder` from stdin and prints one JSON line of `BrowserResult`.
 */
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * What each browser repeats. With `login`, a new browser requests the authorization page, submits the form and
 * exchanges the code. With `sso`, a browser with a session sends an authorization request and exchanges the code. With
 * `open`, a browser only requests the authorization page.
 */
export interface BrowserOrder {
  port: number;
  realm: string;
  does: 'login' | 'sso' | 'open';
  connections: number;
  /** Length of the measured window in seconds. Default: until `count` requests are done. */
  seconds?: number;
  count?: number;
}

export interface BrowserResult {
  done: number;
  perSecond: number;
  /** The first unexpected response. */
  fault?: string;
}

interface Answer {
  status: number;
  head: string;
  body: string;
}

const REDIRECT = 'http://app.example.test/cb';
/** RFC 7636, Appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const order = JSON.parse(await text(process.stdin)) as BrowserOrder;
const base = `/realms/${order.realm}/protocol/openid-connect`;
const query = new URLSearchParams({
  client_id: 'web',
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'openid',
  state: 'bench',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
});
const began = performance.now();
const end = began + (order.seconds ?? Number.POSITIVE_INFINITY) * 1000;
let left = order.count ?? Number.POSITIVE_INFINITY;
let done = 0;
let fault: string | undefined;

/** Sends requests one after another over one connection. */
class Connection {
  readonly #socket: Socket;
  #received = '';
  #resolve: ((answer: Answer) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (chunk) => this.#read(String(chunk)));
    this.#socket.on('error', (error) => this.#reject?.(error));
    this.#socket.on('close', () => this.#reject?.(new Error('the connection was closed')));
  }

  send(method: 'GET' | 'POST', path: string, cookie: string, form?: string): Promise<Answer> {
    const lines = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${order.port}`];
    if (cookie !== '') lines.push(`cookie: ${cookie}`);
    if (form !== undefined)
      lines.push('content-type: application/x-www-form-urlencoded', `content-length: ${form.length}`);
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n${form ?? ''}`);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const split = this.#received.indexOf('\r\n\r\n');
    if (split < 0) return;
    const head = this.#received.slice(0, split);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < split + 4 + length) return;
    const body = this.#received.slice(split + 4, split + 4 + length);
    this.#received = this.#received.slice(split + 4 + length);
    this.#resolve?.({ status: Number(head.slice(9, 12)), head, body });
  }
}

function cookiesOf({ head }: Answer): string {
  return [...head.matchAll(/^set-cookie: ([^;\r\n]+)/gim)].map((match) => match[1]).join('; ');
}

function expect(answer: Answer, status: number, what: string): Answer {
  if (answer.status === status) return answer;
  throw new Error(`${what}: ${answer.head.split('\r\n', 1)[0]} ${answer.body.slice(0, 300)}`);
}

async function openPage(connection: Connection): Promise<{ cookie: string; action: string }> {
  const page = expect(await connection.send('GET', `${base}/auth?${query}`, ''), 200, 'the login page');
  const action = /id="kc-form-login"[^>]*action="([^"]+)"|action="([^"]+)"[^>]*id="kc-form-login"/.exec(
    page.body,
  );
  const url = (action?.[1] ?? action?.[2] ?? '').replaceAll('&amp;', '&');
  return { cookie: cookiesOf(page), action: url.replace(/^https?:\/\/[^/]+/, '') };
}

async function logIn(connection: Connection): Promise<Answer> {
  const { cookie, action } = await openPage(connection);
  const form = 'username=ada&password=Correct-Horse-1&credentialId=';
  return expect(await connection.send('POST', action, cookie, form), 302, 'the login form');
}

async function exchange(connection: Connection, sent: Answer): Promise<void> {
  const code = /^location: [^\r\n]*[?&]code=([^&\r\n]+)/im.exec(sent.head)?.[1];
  if (code === undefined) throw new Error(`no code: ${sent.head}`);
  const form = `grant_type=authorization_code&client_id=web&code=${code}&redirect_uri=${encodeURIComponent(REDIRECT)}&code_verifier=${VERIFIER}`;
  expect(await connection.send('POST', `${base}/token`, '', form), 200, 'the code exchange');
}

async function browse(): Promise<void> {
  const connection = new Connection(order.port);
  try {
    const cookie = order.does === 'sso' ? cookiesOf(await logIn(connection)) : '';
    while (performance.now() < end && left > 0) {
      left -= 1;
      if (order.does === 'open') await openPage(connection);
      else if (order.does === 'login') await exchange(connection, await logIn(connection));
      else {
        const sent = await connection.send('GET', `${base}/auth?${query}`, cookie);
        await exchange(connection, expect(sent, 302, 'the authorization request'));
      }
      done += 1;
    }
  } catch (error) {
    fault ??= String(error);
    left = 0;
  } finally {
    connection.close();
  }
}

await Promise.all(Array.from({ length: order.connections }, browse));
const seconds = order.seconds ?? (performance.now() - began) / 1000;
const result: BrowserResult = { done, perSecond: done / seconds, ...(fault === undefined ? {} : { fault }) };
console.log(JSON.stringify(result));
