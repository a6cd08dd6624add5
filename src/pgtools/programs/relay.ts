import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PostgresAddress } from '../../config/index.ts';
import { IdkitError, type Secret, systemErrorCode } from '../../core/index.ts';
import { openWire, type Wire } from '../../postgres/index.ts';
import { readFirstMessage, renderRefusal, renderWelcome } from './relay-messages.ts';

/** Timeout in milliseconds for the server to close a connection after its client has left. */
const FAREWELL_MS = 1_000;

/** Connects one client program to the server. */
export interface Relay {
  /** The socket's directory, which libpq accepts as a host. The port is 5432. */
  readonly directory: string;
  /**
   * Set if the relay did not reach the server or did not send the password. Undefined if the server itself responded.
   */
  readonly fault: IdkitError | undefined;
  /** The server that accepted the connection. */
  readonly host: Wire['host'] | undefined;
  /** Closes the connection immediately. */
  abort(): void;
  /** Waits until the connection of an ended program is closed, then removes the socket. Idempotent. */
  close(): Promise<void>;
}

/**
 * Connects a client program to the server. The program connects without a password to a socket that only this user can
 * reach. idkit then authenticates to the server on the program's behalf and over the same connection.
 *
 * Without the relay, libpq would send the password in the clear to any server that requests it, which cannot be disabled
 * up to version 15. Checking the server's method beforehand does not help, because the server can choose another one for
 * the next connection.
 *
 * The relay accepts only one connection. When this process ends, the connection closes, and the program ends too.
 */
export async function openRelay(options: {
  address: PostgresAddress;
  password: Secret | undefined;
}): Promise<Relay> {
  const directory = await makeRelayDirectory();
  let near: Socket | undefined;
  let far: Wire | undefined;
  let fault: IdkitError | undefined;
  let isOver = false;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    if (near !== undefined) return void socket.destroy();
    near = socket;
    // No other client can connect from here on, and a killed process leaves no directory behind.
    server.close();
    rm(directory, { recursive: true, force: true }).catch(() => undefined);
    socket.on('error', () => undefined);
    admit(socket).catch((error: unknown) => {
      if (error instanceof IdkitError) fault = error;
      socket.end(renderRefusal(error as Error & { code?: string }));
    });
  });
  const admit = async (socket: Socket) => {
    const startup = await readStart(socket);
    const wire = await openWire({ ...options, startup });
    if (isOver) return void wire.stream.destroy();
    far = wire;
    connect(socket, wire);
  };
  const abort = () => {
    isOver = true;
    near?.destroy();
    far?.stream.destroy();
  };
  try {
    await listen(server, join(directory, '.s.PGSQL.5432'));
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  return {
    directory,
    get fault() {
      return fault;
    },
    get host() {
      return far?.host;
    },
    abort,
    async close() {
      const wire = far;
      if (wire !== undefined && !wire.stream.closed)
        await Promise.race([
          new Promise((resolve) => wire.stream.once('close', resolve)),
          wait(FAREWELL_MS, undefined, { ref: false }),
        ]);
      abort();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

/** Reads the client's startup parameters. Before that it refuses encryption, which a local socket does not need. */
async function readStart(socket: Socket): Promise<Readonly<Record<string, string>>> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const message = readFirstMessage(bytes);
    if (message.kind === 'start') return message.parameters;
    if (message.kind === 'other')
      throw new IdkitError('IDKIT_FAILED', 'the connection to the relay did not come from a Postgres client');
    if (message.kind === 'encryption') {
      bytes = bytes.subarray(message.bytes);
      socket.write('N');
      continue;
    }
    bytes = Buffer.concat([bytes, await nextBytes(socket)]);
  }
}

async function nextBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const over = () =>
      reject(new IdkitError('IDKIT_FAILED', 'the client closed the connection before it sent its user name'));
    socket.once('close', over);
    socket.once('data', (chunk: Buffer) => {
      socket.off('close', over);
      socket.pause();
      resolve(chunk);
    });
    socket.resume();
  });
}

/** Forwards bytes unchanged in both directions. If one side closes the connection, the other side is closed too. */
function connect(near: Socket, wire: Wire): void {
  const { stream: far } = wire;
  near.write(renderWelcome(wire));
  near.pipe(far);
  far.pipe(near);
  far.on('error', () => near.destroy());
  far.on('close', () => near.end());
  near.on('close', () => {
    if (!far.writableEnded) far.destroy();
    // The response must be read to its end, or the stream does not close.
    far.resume();
  });
  if (near.destroyed) far.destroy();
}

/** The path of a socket is limited to 107 bytes. TMPDIR may be longer, so it is not used. */
const PARENT = '/tmp';
/** The name of a relay's directory contains the id of the process that created it, then a random part. */
const NAME = /^idkit-relay-(\d+)-/;

let swept: Promise<void> | undefined;

/**
 * Creates a directory that only this user can enter. First removes the directories that killed processes left behind.
 */
async function makeRelayDirectory(): Promise<string> {
  swept ??= removeAbandoned();
  await swept;
  return mkdtemp(join(PARENT, `idkit-relay-${process.pid}-`));
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(PARENT)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(PARENT, name), { recursive: true, force: true }).catch((error: unknown) => {
      // A directory of another user cannot be removed, so it stays.
      if (!['EACCES', 'EPERM'].includes(systemErrorCode(error) ?? '')) throw error;
    });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}
