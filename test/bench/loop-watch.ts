// Loaded into a service with `--import`. Reports the longest time for which the event loop was held, on request.
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';

/** Pause in milliseconds between two looks. */
const LOOK_MS = 1;

const socket = process.env['LOOP_WATCH'] ?? '';

/** Returns the processor time in milliseconds that the main thread has used, so that other programs do not count. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let last = used();
let longest = 0;
let holds: number[] = [];
setInterval(() => {
  const now = used();
  const held = now - last;
  if (held > longest) longest = held;
  if (held > 10) holds.push(Math.round(held));
  last = now;
}, LOOK_MS).unref();

const server = createServer((_request, response) => {
  response.end(JSON.stringify({ longest, holds, rss: process.memoryUsage.rss() }));
  longest = 0;
  holds = [];
});
if (isMainThread) {
  rmSync(socket, { force: true });
  server.listen(socket);
}
server.unref();
