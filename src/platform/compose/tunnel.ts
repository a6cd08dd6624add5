import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { withoutPassphrase } from '../../config/index.ts';
import type { Engine } from './engine.ts';

/**
 * Runs inside the container and connects the server to standard input and output. Bash is in the image. It waits for
 * both of its children. An abandoned child would become a child of process 1, which is Postgres itself. If a signal
 * ends such a child, Postgres restarts.
 */
const JOIN =
  'exec 4<&0 3<>/dev/tcp/127.0.0.1/5432 || exit 1; cat <&4 >&3 & a=$!; cat <&3 & b=$!; wait -n; kill $a $b 2>/dev/null; wait; true';

/** Short, because the path of a socket has at most 107 bytes. */
const DIRECTORY = '/tmp/idkit-tunnel-';

/**
 * Opens a socket on this machine that leads through the engine to the database in its container, while `work` runs. No
 * port of the database is published, and this machine cannot enter the networks of some engines. The public image
 * requests no password inside the container. So the socket is in a directory that only this user can reach. Every user
 * could reach a loopback port.
 *
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
    // The client notices each of these errors when its connection ends.
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
