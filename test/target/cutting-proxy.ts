import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A proxy on the loopback address that can cut or freeze connections. */
export interface CuttingProxy {
  port: number;
  /** Connections are reset after so many bytes in either direction. Default: never. */
  cutAfter: number;
  /** How many connections are still cut. The next ones are whole. Default: all. */
  cuts: number;
  /** Connections are accepted, but no byte passes. */
  frozen: boolean;
  /** Number of connections that were cut. */
  readonly count: number;
}

/** Starts a proxy in front of a port of the loopback address. It ends with the test. */
export async function startCuttingProxy(t: TestContext, to: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let count = 0;
  const proxy = {
    port: 0,
    cutAfter: Number.POSITIVE_INFINITY,
    cuts: Number.POSITIVE_INFINITY,
    frozen: false,
    get count() {
      return count;
    },
  };
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    let bytes = 0;
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        other.destroy();
      });
      from.on('data', (chunk: Buffer) => {
        if (proxy.frozen) return;
        bytes += chunk.length;
        if (bytes > proxy.cutAfter && proxy.cuts > 0) {
          proxy.cuts -= 1;
          count += 1;
          client.resetAndDestroy();
          upstream.destroy();
        } else if (!other.write(chunk)) {
          from.pause();
          other.once('drain', () => from.resume());
        }
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.port = (server.address() as AddressInfo).port;
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return proxy;
}
