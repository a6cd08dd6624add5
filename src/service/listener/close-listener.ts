import { once } from 'node:events';
import { type AddressInfo, connect, Server, type Socket } from 'node:net';
import { readAcceptQueue } from './accept-queue.ts';

/** Number of connections that this process opens to itself in one attempt to close the listener. */
const OWN = 6;
/** The listener closes when this many of those connections are still in the queue. */
const LEFT = 2;
/** With this backlog the kernel drops new clients when `LEFT` connections wait (Linux, `sk_acceptq_is_full`). */
const SMALLEST_BACKLOG = 1;
/** The default backlog of Node.js. */
const FULL_BACKLOG = 511;
/** Timeout in milliseconds of one attempt. */
const ATTEMPT_MS = 1_000;
/** Timeout in milliseconds of all attempts together. */
const ALL_MS = 5_000;

/** A closed listener. */
export interface ClosedListener {
  /** Resolves when the connections that were accepted during the close have ended. */
  ended: Promise<unknown>;
}

/**
 * Closes a listener without losing a connection. `close` alone resets connections that the kernel has completed and no
 * process has accepted. Their clients may have sent a request that a proxy must not retry.
 *
 * So this function makes the queue as short as possible and fills it with connections of this process. From then on the
 * kernel drops new clients. Each of them tries to connect again after a second and is refused, so that a proxy can send
 * its request elsewhere. Earlier clients are accepted. The listener closes when only connections of this process remain
 * in the queue.
 *
 * Established connections stay open. Without the kernel's tables (they exist only on Linux), or if the queue does not
 * reach that state in time, the listener closes without this protection.
 */
export async function closeListener(server: Server): Promise<ClosedListener> {
  const acceptors: Acceptor[] = [];
  const until = performance.now() + ALL_MS;
  while (performance.now() < until) {
    const place = server.address();
    if (place === null || typeof place === 'string' || readAcceptQueue(place) === undefined) break;
    if ((await tryToClose(server, place, acceptors)) === 'closed') break;
  }
  await dropListener(server);
  for (const acceptor of acceptors) acceptor.server.close();
  return { ended: Promise.all(acceptors.map(({ closed }) => closed)) };
}

/** Closes a listener that other processes share, or whose queue is unknown. */
export async function dropListener(server: Server): Promise<ClosedListener> {
  // This calls the `close` method of the base class, because that of HTTP servers would also end idle keep-alive
  // connections.
  Server.prototype.close.call(server);
  return { ended: Promise.resolve() };
}

/** A server that accepts from the listener of another server. */
interface Acceptor {
  server: Server;
  closed: Promise<unknown>;
}

function openAcceptor(of: Server, backlog: number, accept: (socket: Socket) => void): Acceptor {
  const server = new Server({ allowHalfOpen: true, noDelay: true }, accept);
  server.listen(of, backlog);
  return { server, closed: once(server, 'close') };
}

function tryToClose(server: Server, place: AddressInfo, acceptors: Acceptor[]): Promise<'closed' | 'again'> {
  return new Promise((resolve) => {
    const own = Array.from({ length: OWN }, () => connectTo(place));
    const end = (outcome: 'closed' | 'again'): void => {
      clearTimeout(timer);
      for (const socket of own) socket.destroy();
      if (outcome === 'again')
        acceptors.push(openAcceptor(server, FULL_BACKLOG, (socket) => server.emit('connection', socket)));
      resolve(outcome);
    };
    // A timeout means that another process, which also accepts from the queue, has taken the connections.
    const timer = setTimeout(end, ATTEMPT_MS, 'again');
    let seen = 0;
    const accept = (socket: Socket): void => {
      if (!own.some(({ localPort }) => localPort === socket.remotePort)) {
        server.emit('connection', socket);
        return;
      }
      socket.destroy();
      seen++;
      const queue = seen === OWN - LEFT ? readAcceptQueue(place) : undefined;
      if (queue?.waiting === LEFT && queue.arriving === 0) {
        Server.prototype.close.call(server);
        end('closed');
      } else if (seen === OWN) end('again');
    };
    // Node.js opens connections to an IP address in the next tick, so they exist when this runs.
    process.nextTick(() => acceptors.push(openAcceptor(server, SMALLEST_BACKLOG, accept)));
  });
}

function connectTo({ address, family, port }: AddressInfo): Socket {
  const loopback = family === 'IPv6' ? '::1' : '127.0.0.1';
  const socket = connect({ host: address === '0.0.0.0' || address === '::' ? loopback : address, port });
  // The error is ignored, because connections of this process that are still in the queue are reset when the listener
  // closes.
  socket.on('error', () => {});
  return socket;
}
