import { Worker } from 'node:worker_threads';
import type { ReaderAnswer, ReaderQuestion } from './reader.ts';

// A process that runs the slow reads of administrators. A process can be killed in the middle of a statement, but a
// thread cannot: node:sqlite has no call that interrupts a statement. The statement runs in a thread, so that the main
// thread can end the process in the middle of it. The main thread loads no other module, because it would delay the
// start.

/** The parent process ends slow statements first, unless it hangs. This is its margin in milliseconds. */
const MARGIN_MS = 1_000;

const [, , thread = '', location = '', file = '', milliseconds = ''] = process.argv;
// The terminal and the service manager send these signals to the whole group. The parent process decides when to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let timeout: NodeJS.Timeout | undefined;
const worker = new Worker(thread, { workerData: { location, file } });
worker.on('message', (answer: ReaderAnswer) => {
  clearTimeout(timeout);
  process.send?.(answer);
});
worker.on('error', end);

process.on('message', (question: ReaderQuestion) => {
  timeout = setTimeout(end, Number(milliseconds) + MARGIN_MS);
  worker.postMessage(question);
});
process.on('disconnect', end);

/** Ends the process without waiting for its statement, which only reads. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
