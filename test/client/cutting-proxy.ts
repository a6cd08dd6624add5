import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/**
 * What happens to a refresh on its way:
 * - `lost request`: the service does not receive it, and the connection closes.
 * - `lost response`: the service has used the refresh token, and the connection closes before the response begins.
 * - `cut response`: the connection closes within the body of the response.
 * - `no response`: the response never arrives, and the connection stays open.
 */
export type Fault = 'lost request' | 'lost response' | 'cut response' | 'no response';

/** A TCP proxy in front of a service. */
export interface CuttingProxy {
  baseUrl: string;
  /** Sets the address of the service. */
  forwardTo(address: string): void;
  /** The faults of the next refreshes, in order. The requests after that pass. */
  faults: Fault[];
  /** Returns the number of refreshes that clients have sent so far. */
  refreshes(): number;
}

/** Starts the proxy on a free port. */
export async function startCuttingProxy(t: TestContext): Promise<CuttingProxy> {
  const faults: Fault[] = [];
  const sockets = new Set<Socket>();
  let target: URL | undefined;
  let refreshes = 0;
  const server = createServer((client) => {
    const service = connect(Number(target?.port), '127.0.0.1');
    let fault: Fault | undefined;
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('close', () => service.end());
    client.on('data', (data: Buffer) => {
      if (data.includes('grant_type=refresh_token')) {
        refreshes += 1;
        fault = faults.shift();
      }
      if (fault === 'lost request') client.destroy();
      else service.write(data);
    });
    service.on('data', (data: Buffer) => {
      if (fault === undefined) client.write(data);
      else if (fault === 'lost response') client.destroy();
      else if (fault === 'cut response') {
        const body = data.indexOf('\r\n\r\n') + 4;
        client.write(data.subarray(0, body + 40), () => client.destroy());
      }
    });
    service.on('close', () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no address');
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    forwardTo(service) {
      target = new URL(service);
    },
    faults,
    refreshes: () => refreshes,
  };
}
