// Runs clients against the host and port in argv. Each client sends a request over a new connection as soon as it gets
// a response, until a connection is refused. At the end it sends the counts to the parent process.
import { connect } from 'node:net';

/** What the clients counted. */
export interface Clients {
  answered: number;
  /** Connections that were refused. */
  refused: number;
  /** Connections that were accepted but broke without a response. */
  broken: number;
}

const CLIENTS = 24;
const [, , listens, port] = process.argv;
const host = listens === '0.0.0.0' ? '127.0.0.1' : listens === '::' ? '::1' : listens!;
const seen: Clients = { answered: 0, refused: 0, broken: 0 };
let running = CLIENTS;

function ask(): void {
  const socket = connect({ host, port: Number(port) });
  let open = false;
  let answered = false;
  socket.on('connect', () => {
    open = true;
    socket.write('POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nab');
  });
  socket.on('data', () => {
    answered = true;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (answered) seen.answered++;
    else if (open) seen.broken++;
    else seen.refused++;
    if (open) ask();
    else if (--running === 0) process.send!(seen, () => process.exit());
  });
}

for (let client = 0; client < CLIENTS; client++) ask();
