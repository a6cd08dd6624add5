import net, { type AddressInfo, type BoundSocket, createServer, isIPv4 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { listenUrl, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** The names of a listener and of its settings, for messages. */
export type Purpose = 'public' | 'management';

const NAMES = {
  public: { host: 'listen.host', port: '--port' },
  management: { host: 'listen.managementHost', port: '--management-port' },
} as const;

/** Where a listener listens. `bound` is a socket that holds the port without accepting connections. */
export interface HeldPort {
  host: string;
  port: number;
  bound: BoundSocket | undefined;
  purpose: Purpose;
  /** Set if other processes of the service share the port. */
  shared?: SharedPort;
}

/** A port that several processes of one service share. */
export interface SharedPort {
  port: number;
  /**
   * The file descriptor of the socket on which all processes listen, so that the connections in the queue are not lost
   * when one process ends.
   */
  fd?: number;
}

/** A reserved port that only the processes of one service can use. */
export interface ReservedPort extends SharedPort {
  release(): void;
}

/**
 * Reserves a port for several processes. Port 0 means any free port. The processes share one socket, and an idle
 * process accepts the next connection. Node.js before 26.4 cannot hold a port. The processes then use SO_REUSEPORT, and
 * each of them has its own queue.
 *
 * @throws the errors of `listen`
 */
export async function reservePort(host: string, port: number, purpose: Purpose): Promise<ReservedPort> {
  const where = { host, port, purpose };
  if (!('BoundSocket' in net)) {
    await checkPortFree(where);
    return { port: port === 0 ? await findFreePort(host, purpose) : port, release: () => {} };
  }
  try {
    const { lookup } = await import('node:dns/promises');
    const { address } = await lookup(host);
    const bound = new net.BoundSocket({ host: address, port });
    return {
      port: (bound.address() as AddressInfo).port,
      fd: bound.fd(),
      release: () => bound[Symbol.dispose](),
    };
  } catch (cause) {
    throw listenFault(where, cause);
  }
}

/**
 * Checks that a port is free before the start changes anything, and holds it if Node.js supports this (26.4 and newer).
 * Port 0 is always free.
 *
 * @throws the errors of `listen`
 */
export async function holdPort(host: string, port: number, purpose: Purpose): Promise<HeldPort> {
  const where = { host, port, purpose };
  // The port is held only for an IPv4 address, because `listen` resolves host names itself. To recognize an IPv6
  // address, Node.js would compile an expensive pattern, which `listen` needs only if no port is held.
  if (!('BoundSocket' in net) || !isIPv4(host)) {
    await checkPortFree(where);
    return { ...where, bound: undefined };
  }
  try {
    return { ...where, bound: new net.BoundSocket({ host, port }) };
  } catch (cause) {
    throw listenFault(where, cause);
  }
}

/**
 * Starts to listen and returns the URL for this machine, such as `http://127.0.0.1:8080`. `onListening` runs before the
 * first request is accepted.
 *
 * @throws IDKIT_PORT_TAKEN, IDKIT_SETTING for an address that this machine does not have
 */
export async function listen(
  app: FastifyInstance,
  where: HeldPort & { tls: boolean },
  onListening: (address: string) => void = () => {},
): Promise<string> {
  let address = '';
  app.server.once('listening', () => {
    const { port } = app.server.address() as AddressInfo;
    address = listenUrl({ ...where, port });
    onListening(address);
  });
  try {
    const { host, port, bound, shared } = where;
    // Fastify passes its options on to Node.js, whose `listen` accepts a held port as `handle`.
    const own = shared === undefined ? bound && { handle: bound } : optionsFor(shared);
    await app.listen({ host, port, ...own });
  } catch (cause) {
    throw listenFault(where, cause);
  }
  return address;
}

function optionsFor({ fd }: SharedPort) {
  return fd === undefined ? { reusePort: true } : { fd };
}

type Where = { host: string; port: number; purpose: Purpose };

function listenFault(where: Where, cause: unknown): unknown {
  const names = NAMES[where.purpose];
  const name = `${where.host}:${where.port}`;
  switch (systemErrorCode(cause)) {
    case 'EADDRINUSE':
      return new IdkitError('IDKIT_PORT_TAKEN', `another program is already listening on ${name}`, {
        cause,
        hints: [`choose another port with ${names.port}, or stop that program`],
      });
    case 'EACCES':
      return new IdkitError('IDKIT_SETTING', `this user may not listen on ${name}`, {
        cause,
        hints: [`choose a port above 1023 with ${names.port}`],
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new IdkitError(
        'IDKIT_SETTING',
        `${names.host} is ${where.host}, which is not an address of this machine`,
        {
          cause,
        },
      );
    case 'ENOTSUP':
      return new IdkitError('IDKIT_SETTING', 'several processes cannot share a port on this system', {
        cause,
        hints: ['omit --workers, or run idkit on Linux'],
      });
    default:
      return cause;
  }
}

async function checkPortFree(where: Where): Promise<void> {
  if (where.port !== 0) await listenOnce(where);
}

async function findFreePort(host: string, purpose: Purpose): Promise<number> {
  return listenOnce({ host, port: 0, purpose });
}

/**
 * Listens for a moment to find out whether the port is free.
 *
 * @returns the port
 */
async function listenOnce(where: Where): Promise<number> {
  const probe = createServer();
  return new Promise<number>((resolve, reject) => {
    probe.once('error', (cause) => reject(listenFault(where, cause)));
    probe.listen({ host: where.host, port: where.port, exclusive: true }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** Keycloak's default management port. */
const DEFAULT_PORT = 9000;

/** The address of the management listener. */
export interface ManagementPlace {
  host: string;
  port: number;
  /** True if the operator set this port. Otherwise, if the port is in use, the service runs without the listener. */
  isSet: boolean;
}

/** Returns the address of the management listener, or undefined if the settings disable it. */
export function findManagementPlace({ listen }: Pick<Settings, 'listen'>): ManagementPlace | undefined {
  const { managementHost: host, managementPort: port } = listen;
  if (port === 'off') return undefined;
  return { host, port: port ?? DEFAULT_PORT, isSet: port !== null };
}

/**
 * Returns the result of `take`. If another program is using the default port, it returns undefined and adds a note.
 *
 * @throws IDKIT_PORT_TAKEN if the operator set the port
 */
export async function takeUnlessTaken<T>(
  { isSet }: ManagementPlace,
  notes: string[],
  take: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await take();
  } catch (error) {
    if (isSet || !(error instanceof IdkitError) || error.code !== 'IDKIT_PORT_TAKEN') throw error;
    notes.push(
      `${error.message}, so this service has no metrics or detailed health; choose another port with --management-port`,
    );
    return undefined;
  }
}
