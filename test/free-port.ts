import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** The range of ports for tests: above the ports that browsers refuse, and below the ephemeral ports of Linux. */
const PORTS = { from: 20_000, to: 32_768 } as const;

/**
 * Returns a free port of the loopback interface. No other test gets the same port while this process runs, even if
 * nothing listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    // Linux removes an abstract socket when its process ends, for whatever reason.
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

/** Starts a server. Resolves to undefined if another program already uses the address. */
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
