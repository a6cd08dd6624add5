import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Plays the part of a server on one connection, after the client's startup message. `say` sends a message, and `ask`
 * returns the client's next message.
 */
export type Talk = (server: {
  say(type: string, body?: Buffer): void;
  ask(): Promise<Buffer>;
}) => Promise<void> | void;

/** A server that poses as Postgres and sends what the test prescribes for each connection. */
export interface HostileServer {
  port: number;
  /** Returns all bytes that clients sent, except those that were forwarded to a real server. */
  received(): Buffer;
  /** Returns the number of connections so far. */
  connections(): number;
}

/**
 * Starts a hostile server on the loopback interface, without TLS. Each connection gets the next element of `talks`, and
 * further connections get the last element. A port number instead of a talk forwards the connection to a real server.
 */
export async function startHostile(
  t: { after(end: () => void): void },
  ...talks: readonly (Talk | number)[]
): Promise<HostileServer> {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    const talk = talks[Math.min(connections++, talks.length - 1)]!;
    if (typeof talk === 'number') return passOn(socket, talk);
    speak(socket, talk, received).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    received: () => Buffer.concat(received),
    connections: () => connections,
  };
}

function passOn(near: Socket, port: number): void {
  const far = connect(port, '127.0.0.1');
  near.pipe(far).pipe(near);
  far.on('error', () => near.destroy());
  near.on('close', () => far.destroy());
}

async function speak(socket: Socket, talk: Talk, received: Buffer[]): Promise<void> {
  const waiting: ((bytes: Buffer) => void)[] = [];
  const come: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => {
    received.push(bytes);
    const next = waiting.shift();
    if (next === undefined) come.push(bytes);
    else next(bytes);
  });
  const ask = async () => come.shift() ?? new Promise<Buffer>((resolve) => waiting.push(resolve));
  const start = await ask();
  if (start.readInt32BE(4) === 80_877_103) {
    socket.write('N');
    // The client requested TLS and may now continue without it.
    return;
  }
  const say = (type: string, body = Buffer.alloc(0)) => {
    const head = Buffer.alloc(5);
    head.write(type, 0, 'latin1');
    head.writeInt32BE(body.length + 4, 1);
    socket.write(Buffer.concat([head, body]));
  };
  await talk({ say, ask });
}

/** Returns the body of the server's authentication message: the kind of request and its data. */
export function authentication(code: number, body: Buffer | string = ''): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(code);
  return Buffer.concat([head, Buffer.from(body)]);
}

export const CLEARTEXT = authentication(3);
export const MD5 = authentication(5, 'salt');
export const SCRAM = authentication(10, 'SCRAM-SHA-256\0\0');
export const LET_IN = authentication(0);
export const READY = Buffer.from('I');

/** Returns the server's first SCRAM message, in response to the client's. */
export function scramChallenge(clientFirst: Buffer, iterations: number): Buffer {
  const [, nonce] = /r=([^,\0]+)/.exec(clientFirst.toString('latin1'))!;
  return authentication(11, `r=${nonce}abcdef,s=c2FsdHNhbHRzYWx0,i=${iterations}`);
}
