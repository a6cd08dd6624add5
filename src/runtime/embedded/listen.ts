import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { listenUrl } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/**
 * Listens and tells the address for this machine, `http://127.0.0.1:8080`. `onListening` runs before the first
 * request can be taken.
 *
 * @throws IDKIT_PORT_TAKEN, IDKIT_SETTING for an address that is not this machine's
 */
export async function listen(
  app: FastifyInstance,
  where: { host: string; port: number; tls: boolean },
  onListening: (address: string) => void = () => {},
): Promise<string> {
  let address = '';
  app.server.once('listening', () => {
    const { port } = app.server.address() as AddressInfo;
    address = listenUrl({ ...where, port });
    onListening(address);
  });
  try {
    await app.listen({ host: where.host, port: where.port });
  } catch (cause) {
    throw listenFault(where, cause);
  }
  return address;
}

function listenFault(where: { host: string; port: number }, cause: unknown): unknown {
  const name = `${where.host}:${where.port}`;
  switch (systemErrorCode(cause)) {
    case 'EADDRINUSE':
      return new IdkitError('IDKIT_PORT_TAKEN', `another program listens on ${name}`, {
        cause,
        hints: ['choose another port with --port, or stop that program'],
      });
    case 'EACCES':
      return new IdkitError('IDKIT_SETTING', `this user may not listen on ${name}`, {
        cause,
        hints: ['choose a port above 1023 with --port'],
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new IdkitError('IDKIT_SETTING', `listen.host ${where.host} is no address of this machine`, {
        cause,
      });
    default:
      return cause;
  }
}

/** Proves that a port is free before anything is changed. Port 0 always is. @throws as `listen` does */
export async function checkPortFree(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (cause) => reject(listenFault({ host, port }, cause)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}
