import { appendFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makePlatform, startTestService, type TestService } from '../http/service.ts';
import { makeDatabase } from '../store/databases.ts';
import type { PostgresServer } from '../store/postgres-server.ts';

/**
 * Several services in this process on one database. Their stores and caches are as separate as those of real replicas.
 */
export interface ReplicatedService {
  /** The URL of a proxy without sticky sessions, which sends each request to the next replica. */
  address: string;
  replicas: readonly TestService[];
  close(): Promise<void>;
}

/** Starts `count` services on a new database, and a proxy that distributes its requests. */
export async function startReplicated(
  server: PostgresServer,
  { count = 3, prepare }: { count?: number; prepare?: (dir: string) => void } = {},
): Promise<ReplicatedService> {
  const database = await makeDatabase(server);
  const replicas: TestService[] = [];
  let next = 0;
  const proxy = createServer((incoming, answer) => {
    const target = replicas[next++ % replicas.length]!.address;
    const outgoing = request(`${target}${incoming.url}`, {
      method: incoming.method!,
      headers: incoming.headers,
    });
    outgoing.on('response', (response) => {
      answer.writeHead(response.statusCode!, response.rawHeaders);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.writeHead(502).end());
    incoming.pipe(outgoing);
  });
  // The proxy returns the replicas' own headers, so their keep-alive timeout must apply here too.
  proxy.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const platforms = Array.from({ length: count }, () => {
    const platform = makePlatform();
    appendFileSync(`${platform.dir}/.env`, `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
    appendFileSync(`${platform.dir}/idkit.yaml`, 'listen:\n  drainSeconds: 0\n');
    prepare?.(platform.dir);
    return platform;
  });
  const flags = { database: database.url, baseUrl: address };
  const started = await Promise.allSettled(
    platforms.map(async (platform) => {
      replicas.push(await startTestService({ platform, flags }));
    }),
  );
  const close = async () => {
    proxy.closeAllConnections();
    proxy.close();
    for (const replica of replicas) await replica.close();
    for (const platform of platforms) platform.remove();
  };
  for (const one of started)
    if (one.status === 'rejected') {
      await close();
      throw one.reason;
    }
  return { address, replicas, close };
}
