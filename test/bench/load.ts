/**
 * A load generator for a separate process: keep-alive connections on plain sockets, closed loop or open loop. Reads one
 * JSON line of `LoadOrder` from stdin and prints one JSON line of `LoadResult`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** What to send. With `tokens`, each request is a refresh with one of them. Otherwise all requests are the same. */
export interface LoadOrder {
  port: number;
  method: 'GET' | 'POST';
  path: string;
  /** The form body. A refresh adds `refresh_token` to it. */
  form?: string;
  /** Refresh tokens to rotate in random order. The token in a response replaces the one in the request. */
  tokens?: string[];
  /** The file with the refresh tokens, one per line, instead of `tokens`. The load replaces its content. */
  tokenFile?: string;
  connections: number;
  /** Length of the measured window in seconds. */
  seconds: number;
  /** Number of requests per second, evenly spaced. Default: closed loop. */
  rate?: number;
}

/**
 * What the load measured. Latencies are in milliseconds. With `rate`, they are measured from the time for which the
 * request was scheduled.
 */
export interface LoadResult {
  requests: number;
  perSecond: number;
  not200: number;
  /** Number of responses with each status other than 200. */
  statuses: Record<string, number>;
  firstRefusal?: string;
  p50: number;
  p99: number;
  p999: number;
  /** The refresh tokens that are valid after the load. */
  tokens?: string[];
}

const order = JSON.parse(await text(process.stdin)) as LoadOrder;
const latencies: number[] = [];
let not200 = 0;
const statuses: Record<string, number> = {};
let firstRefusal: string | undefined;
const pool = order.tokenFile
  ? readFileSync(order.tokenFile, 'latin1').trimEnd().split('\n')
  : order.tokens
    ? [...order.tokens]
    : undefined;

function request(token: string | undefined): string {
  const body = order.method === 'POST' ? `${order.form ?? ''}${token ? `&refresh_token=${token}` : ''}` : '';
  const head = `${order.method} ${order.path} HTTP/1.1\r\nhost: 127.0.0.1:${order.port}\r\n`;
  if (order.method === 'GET') return `${head}\r\n`;
  return `${head}content-type: application/x-www-form-urlencoded\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const fixed = request(undefined);

interface Connection {
  socket: Socket;
  token: string | undefined;
  scheduled: number;
  busy: boolean;
  received: string;
}

const end = performance.now() + order.seconds * 1000;
const waiting: number[] = [];
const idle: Connection[] = [];
let open = 0;

function takeToken(): string | undefined {
  if (!pool) return undefined;
  const at = Math.floor(Math.random() * pool.length);
  const token = pool[at];
  const last = pool.pop();
  if (at < pool.length && last !== undefined) pool[at] = last;
  return token;
}

function send(connection: Connection, scheduled: number): void {
  connection.busy = true;
  connection.scheduled = scheduled;
  if (!pool) {
    connection.socket.write(fixed);
    return;
  }
  connection.token = takeToken();
  if (connection.token === undefined) throw new Error('the load ran out of refresh tokens');
  connection.socket.write(request(connection.token));
}

function finished(connection: Connection, head: string, body: string): void {
  latencies.push(performance.now() - connection.scheduled);
  if (!head.startsWith('HTTP/1.1 200')) {
    not200 += 1;
    const status = head.slice(9, 12);
    statuses[status] = (statuses[status] ?? 0) + 1;
    // The service did not rotate the token if it refused the request for lack of room.
    if ((status === '503' || status === '429') && pool && connection.token) pool.push(connection.token);
    firstRefusal ??= `${head.slice(0, 40)} ${body.slice(0, 200)}`;
  } else if (pool) {
    const next = /"refresh_token":"([^"]+)"/.exec(body)?.[1];
    if (next) pool.push(next);
  }
  connection.busy = false;
  const now = performance.now();
  if (now >= end) {
    connection.socket.destroy();
    open -= 1;
    if (open === 0) report();
    return;
  }
  if (order.rate === undefined) send(connection, now);
  else if (waiting.length > 0) send(connection, waiting.shift() as number);
  else idle.push(connection);
}

function receive(connection: Connection, chunk: string): void {
  connection.received += chunk;
  const split = connection.received.indexOf('\r\n\r\n');
  if (split < 0) return;
  const head = connection.received.slice(0, split);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (connection.received.length < split + 4 + length) return;
  const body = connection.received.slice(split + 4, split + 4 + length);
  connection.received = connection.received.slice(split + 4 + length);
  finished(connection, head, body);
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function report(): void {
  const sorted = latencies.sort((a, b) => a - b);
  const result: LoadResult = {
    requests: sorted.length,
    perSecond: sorted.length / order.seconds,
    not200,
    statuses,
    ...(firstRefusal === undefined ? {} : { firstRefusal }),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
    ...(pool && !order.tokenFile ? { tokens: pool } : {}),
  };
  if (order.tokenFile && pool) writeFileSync(order.tokenFile, `${pool.join('\n')}\n`);
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

/** Sends requests on schedule, even if earlier responses are still outstanding. */
function pace(rate: number): void {
  const start = performance.now();
  let due = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    while (start + (due * 1000) / rate <= now && now < end) {
      const scheduled = start + (due * 1000) / rate;
      due += 1;
      const free = idle.pop();
      if (free) send(free, scheduled);
      else waiting.push(scheduled);
    }
    if (now >= end) {
      clearInterval(timer);
      for (const connection of idle) connection.socket.destroy();
      open -= idle.length;
      if (open === 0) report();
    }
  }, 1);
}

for (let index = 0; index < order.connections; index += 1) {
  const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
  const connection: Connection = { socket, token: undefined, scheduled: 0, busy: false, received: '' };
  open += 1;
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => receive(connection, String(chunk)));
  socket.on('error', (error) => {
    not200 += 1;
    firstRefusal ??= String(error);
  });
  socket.on('connect', () => {
    if (order.rate === undefined) send(connection, performance.now());
    else idle.push(connection);
  });
}
if (order.rate !== undefined) pace(order.rate);
