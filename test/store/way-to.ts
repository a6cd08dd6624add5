import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { PostgresServer } from './postgres-server.ts';

/**
 * Starts a proxy that can simulate failures of the connection to the server. After `cut`, no response arrives: existing
 * connections close with the next response at the latest, and new connections fail until `mend`. After `silence`,
 * existing connections stay open but no longer carry data from the server, whereas new connections work.
 */
export async function wayTo(t: TestContext, server: PostgresServer) {
  let isCut = false;
  const silent = new WeakSet<Socket>();
  const nears = new Set<Socket>();
  const way = createServer((near) => {
    if (isCut) return void near.destroy();
    nears.add(near);
    const far = connect(server.port, '127.0.0.1');
    near.pipe(far);
    far.on('data', (bytes) => {
      if (isCut) near.destroy();
      else if (!silent.has(near)) near.write(bytes);
    });
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      end.on('error', () => other.destroy());
      end.on('close', () => other.destroy());
    }
    near.on('close', () => nears.delete(near));
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  t.after(() => {
    way.close();
    for (const near of nears) near.destroy();
  });
  return {
    port: (way.address() as AddressInfo).port,
    cut: (how: 'with the next answer' | 'at once' = 'with the next answer') => {
      isCut = true;
      if (how === 'at once') for (const near of nears) near.destroy();
    },
    mend: () => {
      isCut = false;
    },
    silence: () => {
      for (const near of nears) silent.add(near);
    },
  };
}
