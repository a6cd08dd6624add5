import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { withoutPassphrase } from '../../config/index.ts';
import type { Engine } from './engine.ts';

/**
 * Runs in the container's bash and connects standard input and output to the server. The shell waits for both of its
 * children, because an orphan would become a child of process 1, which is Postgres itself: if a signal ends such a
 * child, Postgres restarts.
 */
const JOIN =
  'exec 4<&0 3<>/dev/tcp/127.0.0.1/5432 || exit 1; cat <&4 >&3 & a=$!; cat <&3 & b=$!; wait -n; kill $a $b 2>/dev/null; wait; true';

/** A short path, because the path of a socket is limited to 107 bytes. */
const DIRECTORY = '/tmp/idkit-tunnel-';

/**
 * Runs `work` with a socket on this machine that leads through the engine to the database in its container. This needs
 * no published port, and it works with engines whose networks this machine cannot reach. Inside the container, the
 * public image requests no password. The socket is therefore in a directory that only this user can enter, whereas any
 * user could connect to a loopback port.
 *
 * @param work receives the socket's directory, which libpq accepts as a host
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
    // The client notices all of these errors, because its connection ends.
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
