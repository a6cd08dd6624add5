import { lookup } from 'node:dns/promises';
import net, { type AddressInfo, type BoundSocket, createServer, isIPv4 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { listenUrl, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Which of the service's listeners a place is for; messages name its settings. */
export type Purpose = 'public' | 'management';

const NAMES = {
  public: { host: 'listen.host', port: '--port' },
  management: { host: 'listen.managementHost', port: '--management-port' },
} as const;

/** Where the service will listen; `bound` holds the port, and nobody can connect to it yet. */
export interface HeldPort {
  host: string;
  port: number;
  bound: BoundSocket | undefined;
  purpose: Purpose;
  /** Present where other processes of the service listen there too. */
  shared?: SharedPort;
}

/** A port of several processes of one service. */
export interface SharedPort {
  port: number;
  /** The descriptor of one socket for all, on which each of them listens: what waits in its queue is lost by the end of none. */
  fd?: number;
}

/** A port that the processes of one service may listen on, and no other program. */
export interface ReservedPort extends SharedPort {
  release(): void;
}

/**
 * Reserves a port for several processes; 0 takes a free one. They share one socket, and whichever is idle accepts. A
 * Node.js that cannot hold a port (before 26.4) leaves the sharing to the kernel (SO_REUSEPORT): each has a queue of its own.
 *
 * @throws as `listen` does
 */
export async function reservePort(host: string, port: number, purpose: Purpose): Promise<ReservedPort> {
  const where = { host, port, purpose };
  if (!('BoundSocket' in net)) {
    await checkPortFree(where);
    return { port: port === 0 ? await findFreePort(host, purpose) : port, release: () => {} };
  }
  try {
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
 * Proves that a port is free before anything is changed, and holds it where Node.js can (26.4 and newer). Port 0
 * always is.
 *
 * @throws as `listen` does
 */
export async function holdPort(host: string, port: number, purpose: Purpose): Promise<HeldPort> {
  const where = { host, port, purpose };
  // A name is looked up by `listen` itself. Of IPv6 addresses Node.js checks the form by a pattern that it takes long
  // to compile, and it does so for every address that it listens on without a held port.
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
 * Listens and tells the address for this machine, `http://127.0.0.1:8080`. `onListening` runs before the first
 * request can be taken.
 *
 * @throws IDKIT_PORT_TAKEN, IDKIT_SETTING for an address that is not this machine's
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
    // Fastify hands its options on to Node.js's own `listen`, which takes a held port as `handle`.
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
      return new IdkitError('IDKIT_PORT_TAKEN', `another program listens on ${name}`, {
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
      return new IdkitError('IDKIT_SETTING', `${names.host} ${where.host} is no address of this machine`, {
        cause,
      });
    case 'ENOTSUP':
      return new IdkitError('IDKIT_SETTING', 'several processes cannot share a port on this system', {
        cause,
        hints: ['leave --workers out, or run it on Linux'],
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

/** Listens and stops. @returns the port */
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

/** Keycloak's own (facts §13). */
const DEFAULT_PORT = 9000;

/** Where the management listener is to be. */
export interface ManagementPlace {
  host: string;
  port: number;
  /** False: nobody named this very port, and the service does without the listener if it is taken. */
  byHand: boolean;
}

/** Undefined if the settings want none. */
export function findManagementPlace({ listen }: Pick<Settings, 'listen'>): ManagementPlace | undefined {
  const { managementHost: host, managementPort: port } = listen;
  if (port === 'off') return undefined;
  return { host, port: port ?? DEFAULT_PORT, byHand: port !== null };
}

/**
 * What `take` makes of the place. A default port that another program has is given up with a note.
 *
 * @throws IDKIT_PORT_TAKEN if the port was set by hand
 */
export async function takeUnlessTaken<T>(
  { byHand }: ManagementPlace,
  notes: string[],
  take: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await take();
  } catch (error) {
    if (byHand || !(error instanceof IdkitError) || error.code !== 'IDKIT_PORT_TAKEN') throw error;
    notes.push(
      `${error.message}, so this service has no metrics and no detailed health; --management-port gives it another port`,
    );
    return undefined;
  }
}
