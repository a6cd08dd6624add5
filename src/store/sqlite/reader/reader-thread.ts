import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { toFault } from '../faults.ts';
import type { ReaderAnswer, ReaderQuestion } from './reader.ts';

// A thread that runs slow reads in parallel with the main thread.
const { location, file } = workerData as { location: string; file: string };
const port = parentPort!;
let database: DatabaseSync | undefined;

function open(): DatabaseSync {
  const opened = new DatabaseSync(location, { readOnly: true, timeout: 10_000 });
  opened.exec('PRAGMA cache_size = -4000');
  return opened;
}

port.on('message', ({ id, sql, values }: ReaderQuestion) => {
  let answer: ReaderAnswer;
  try {
    database ??= open();
    answer = { id, rows: database.prepare(sql).all(...(values as SQLInputValue[])) };
  } catch (error) {
    answer = { id, fault: toFault(error, file) };
  }
  port.postMessage(answer);
});
