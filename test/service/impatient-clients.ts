// Clients (host and port by argv) that post over a new connection each as fast as they are answered, until one is
// refused. Says then how it went.
import { connect } from 'node:net';

/** What the clients saw. */
export interface Clients {
  answered: number;
  /** Were not let in. */
  refused: number;
  /** Were let in, and the connection broke without an answer. */
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
