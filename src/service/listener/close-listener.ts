import { once } from 'node:events';
import { type AddressInfo, connect, Server, type Socket } from 'node:net';
import { readAcceptQueue } from './accept-queue.ts';

/** Own connections of one attempt, and those of them that are left in the queue when the listener closes. */
const OWN = 6;
const LEFT = 2;
/** With so long a queue the kernel drops who asks once `LEFT` connections wait (Linux, `sk_acceptq_is_full`). */
const SMALLEST_BACKLOG = 1;
/** Node.js's own. */
const FULL_BACKLOG = 511;
/** Milliseconds that one attempt and all of them may take. */
const ATTEMPT_MS = 1_000;
const ALL_MS = 5_000;

/** A listener that closed. */
export interface ClosedListener {
  /** Resolves once the connections that were accepted while it closed have ended. */
  ended: Promise<unknown>;
}

/**
 * Closes a listener so that nobody who was let in is left without an answer. `close` resets the connections that the
 * kernel has completed and nobody has accepted yet, and their clients may have sent a request that no proxy may send
 * elsewhere. So the queue is filled with connections of this process and made as short as can be: from then on the
 * kernel drops who asks; after a second such a client asks again, and is refused, which is safe to try elsewhere. Who
 * came before is accepted as ever, and the listener closes at the moment at which own connections alone are left.
 *
 * Connections that are open stay open. Without the kernel's figures (not on Linux) the listener simply closes,
 * and so it does where a moment like this does not come.
 */
export async function closeListener(server: Server): Promise<ClosedListener> {
  const doors: Door[] = [];
  const until = performance.now() + ALL_MS;
  while (performance.now() < until) {
    const place = server.address();
    if (place === null || typeof place === 'string' || readAcceptQueue(place) === undefined) break;
    if ((await tryToClose(server, place, doors)) === 'closed') break;
  }
  await dropListener(server);
  for (const door of doors) door.server.close();
  return { ended: Promise.all(doors.map(({ closed }) => closed)) };
}

/** Closes a listener that other processes have too, or whose queue nothing is known of. */
export async function dropListener(server: Server): Promise<ClosedListener> {
  // Not by the method of HTTP servers, which ends connections that are kept open.
  Server.prototype.close.call(server);
  return { ended: Promise.resolve() };
}

/** A server that accepts from the listener of another one. */
interface Door {
  server: Server;
  closed: Promise<unknown>;
}

function openDoor(of: Server, backlog: number, accept: (socket: Socket) => void): Door {
  const server = new Server({ allowHalfOpen: true, noDelay: true }, accept);
  server.listen(of, backlog);
  return { server, closed: once(server, 'close') };
}

function tryToClose(server: Server, place: AddressInfo, doors: Door[]): Promise<'closed' | 'again'> {
  return new Promise((resolve) => {
    const own = Array.from({ length: OWN }, () => connectTo(place));
    const end = (outcome: 'closed' | 'again'): void => {
      clearTimeout(timer);
      for (const socket of own) socket.destroy();
      if (outcome === 'again')
        doors.push(openDoor(server, FULL_BACKLOG, (socket) => server.emit('connection', socket)));
      resolve(outcome);
    };
    // Own connections that do not arrive: the queue is that of another process too.
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
    // By then the connections are made: to an address, the kernel is asked in the next tick.
    process.nextTick(() => doors.push(openDoor(server, SMALLEST_BACKLOG, accept)));
  });
}

function connectTo({ address, family, port }: AddressInfo): Socket {
  const loopback = family === 'IPv6' ? '::1' : '127.0.0.1';
  const socket = connect({ host: address === '0.0.0.0' || address === '::' ? loopback : address, port });
  // Those that are left are reset as the listener ends.
  socket.on('error', () => {});
  return socket;
}
