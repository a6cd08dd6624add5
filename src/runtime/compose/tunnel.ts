import { spawn } from 'node:child_process';
import { createServer, type Socket } from 'node:net';
import { IdkitError } from '../../core/index.ts';
import type { Engine } from './engine.ts';

/**
 * Inside the container: one connection to the server, joined to standard input and output. Bash is in the image. It
 * waits for both of its children: one that it left behind would become a child of process 1, which is Postgres itself,
 * and Postgres takes any child that a signal ended for a crash of its own and starts all over.
 */
const JOIN =
  'exec 4<&0 3<>/dev/tcp/127.0.0.1/5432 || exit 1; cat <&4 >&3 & a=$!; cat <&3 & b=$!; wait -n; kill $a $b 2>/dev/null; wait; true';

/**
 * A port of this machine's loopback that leads to the database in its container, through the engine, while `work`
 * runs: no port of the database is published, and on some engines this machine has no way into their networks.
 */
export async function whileTunnelled<T>(
  find: () => Promise<{ engine: Engine; id: string }>,
  work: (port: number) => Promise<T>,
): Promise<T> {
  const { engine, id } = await find();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const child = spawn(engine.program, ['exec', '-i', id, 'bash', '-c', JOIN], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    const end = () => {
      sockets.delete(socket);
      socket.destroy();
      child.kill('SIGKILL');
    };
    // Whoever connects hears of each of these by the end of the connection.
    for (const stream of [socket, child.stdin, child.stdout]) stream.on('error', end);
    child.on('error', end);
    child.on('close', end);
    socket.on('close', end);
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new IdkitError('IDKIT_BUG', 'the tunnel to the database has no port');
    return await work(address.port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}
