/**
 * Sends `GET /health/live` to the port in its argument every 5 ms, until its standard input ends. Prints the line
 * `ready` after the first responses, which do not count. Then prints the longest and the median time in milliseconds as
 * JSON.
 */
import { Agent, request } from 'node:http';

/** Number of requests that open the connections and that do not count. */
const FIRST = 20;

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
const times: number[] = [];
let open = 0;
let ended = false;
let first = FIRST;

function send(): void {
  const began = performance.now();
  open += 1;
  const outgoing = request({ port, host: '127.0.0.1', path: '/health/live', agent }, (response) => {
    response.resume();
    response.on('end', () => finish(began));
  });
  outgoing.on('error', () => finish(began));
  outgoing.end();
}

function finish(began: number): void {
  if (first > 0) {
    first -= 1;
    if (first === 0) process.stdout.write('ready\n');
  } else times.push(performance.now() - began);
  open -= 1;
  if (ended && open === 0) report();
}

function report(): void {
  const sorted = times.sort((one, other) => one - other);
  const result = { longest: sorted.at(-1) ?? 0, median: sorted[Math.floor(sorted.length / 2)] ?? 0 };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

const timer = setInterval(send, 5);
process.stdin.resume();
process.stdin.on('end', () => {
  clearInterval(timer);
  ended = true;
  if (open === 0) report();
});
