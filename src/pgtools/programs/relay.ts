import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PostgresAddress } from '../../config/index.ts';
import { IdkitError, type Secret, systemErrorCode } from '../../core/index.ts';
import { openWire, type Wire } from '../../postgres/index.ts';
import { readFirstMessage, renderRefusal, renderWelcome } from './relay-messages.ts';

/** Milliseconds in which a server closes a connection that its client has left. */
const FAREWELL_MS = 1_000;

/** The way of one client program to the server. */
export interface Relay {
  /** Of the socket, as libpq takes it for a host; the port is 5432. */
  readonly directory: string;
  /** Why the server was not reached, or got no password; undefined where it answered by itself. */
  readonly fault: IdkitError | undefined;
  /** The server that let the program in. */
  readonly host: Wire['host'] | undefined;
  /** Breaks the connection off. */
  abort(): void;
  /** Waits until the connection of a program that has ended is closed, then removes the socket. Idempotent. */
  close(): Promise<void>;
}

/**
 * Stands between a client program and the server: the program connects to a socket that only this user reaches, without
 * a password, and idkit itself proves to the server that it knows it, on the very connection that the program then uses.
 * libpq by itself sends the password in the clear to a server that asks for it, up to version 15 without a way to forbid
 * it, and a server that was asked for its method beforehand may say another one the next time.
 *
 * It takes one connection and no other. The program ends with this process, as its connection does.
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
    // Nobody else gets in, and a process that is killed from here on leaves nothing behind.
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
      if (far !== undefined && !far.stream.closed)
        await Promise.race([
          new Promise((resolve) => far!.stream.once('close', resolve)),
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

/** The client's own parameters; it is told that there is no encryption on a socket. */
async function readStart(socket: Socket): Promise<Readonly<Record<string, string>>> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const message = readFirstMessage(bytes);
    if (message.kind === 'start') return message.parameters;
    if (message.kind === 'other')
      throw new IdkitError('IDKIT_FAILED', 'something else than a client of Postgres has connected');
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
    const over = () => reject(new IdkitError('IDKIT_FAILED', 'the client has left before it said its name'));
    socket.once('close', over);
    socket.once('data', (chunk: Buffer) => {
      socket.off('close', over);
      socket.pause();
      resolve(chunk);
    });
    socket.resume();
  });
}

/** From here on bytes pass as they are, and the end of one side is the other's. */
function connect(near: Socket, wire: Wire): void {
  const { stream: far } = wire;
  near.write(renderWelcome(wire));
  near.pipe(far);
  far.pipe(near);
  far.on('error', () => near.destroy());
  far.on('close', () => near.end());
  near.on('close', () => {
    if (!far.writableEnded) far.destroy();
    // Read to its end, so that it closes.
    far.resume();
  });
  if (near.destroyed) far.destroy();
}

/** The path of a socket may be no longer than 107 bytes, so TMPDIR does not come into it. */
const PARENT = '/tmp';
/** The process that made it, then what makes it its own. */
const NAME = /^idkit-relay-(\d+)-/;

let swept: Promise<void> | undefined;

/** A directory that only this user may enter. What processes that were killed left of theirs goes first. */
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
      // Another user's is that user's to remove.
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
