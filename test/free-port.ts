import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Above the well-known ones and those that browsers refuse, below those that Linux gives to whoever names none. */
const PORTS = { from: 20_000, to: 32_768 } as const;

/**
 * A port of loopback that nobody listens on just now, and that no connection is given by chance. No other test is
 * given it while this process runs, whether it is listened on or not.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    // A name of Linux's sockets that no file belongs to: it goes with the process, however that ends.
    const lease = await listen((server) => server.listen(`\0idkit-test-port-${port}`));
    if (lease === undefined) continue;
    lease.unref();
    const probe = await listen((server) => server.listen(port, '127.0.0.1'));
    if (probe === undefined) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

/** Undefined where somebody listens there already. */
async function listen(begin: (server: Server) => void): Promise<Server | undefined> {
  const server = createServer();
  try {
    begin(server);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return undefined;
  }
}
