import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { withoutPassphrase } from '../../config/index.ts';
import type { Engine } from './engine.ts';

/**
 * Inside the container: one connection to the server, joined to standard input and output. Bash is in the image. It
 * waits for both of its children: one that it left behind would become a child of process 1, which is Postgres itself,
 * and Postgres takes any child that a signal ended for a crash of its own and starts all over.
 */
const JOIN =
  'exec 4<&0 3<>/dev/tcp/127.0.0.1/5432 || exit 1; cat <&4 >&3 & a=$!; cat <&3 & b=$!; wait -n; kill $a $b 2>/dev/null; wait; true';

/** Short, since the path of a socket may be no longer than 107 bytes. */
const DIRECTORY = '/tmp/idkit-tunnel-';

/**
 * A socket of this machine that leads to the database in its container, through the engine, while `work` runs: no port
 * of the database is published, and on some engines this machine has no way into their networks. The public image asks
 * nobody inside the container for a password, so the socket lies where only this user gets: never on a port of the
 * loopback, which is everybody's.
 *
 * @param work is given the socket's directory, as libpq takes it for a host
 */
export async function whileTunnelled<T>(
  find: () => Promise<{ engine: Engine; id: string }>,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const { engine, id } = await find();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const child = spawn(engine.program, ['exec', '-i', id, 'bash', '-c', JOIN], {
      env: withoutPassphrase(process.env),
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
  const directory = await mkdtemp(DIRECTORY);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(join(directory, '.s.PGSQL.5432'), resolve);
    });
    return await work(directory);
  } finally {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true, force: true });
  }
}
