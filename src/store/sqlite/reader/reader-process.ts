import { setPriority } from 'node:os';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { toFault } from '../faults.ts';
import type { ReaderAnswer, ReaderQuestion } from './reader.ts';

// A process that runs the slow reads of administrators. A process can be killed in the middle of a statement, but a
// thread cannot: node:sqlite has no call that interrupts a statement.

/** Logins and tokens run first if the processors are busy. */
const NICENESS = 15;

const [, , location = '', file = ''] = process.argv;
// The terminal and the service manager send these signals to the whole group. The parent process decides when to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
setPriority(NICENESS);

let database: DatabaseSync | undefined;

function open(): DatabaseSync {
  const opened = new DatabaseSync(location, { readOnly: true, timeout: 10_000 });
  opened.exec('PRAGMA cache_size = -4000');
  return opened;
}

process.on('message', ({ id, sql, values }: ReaderQuestion) => {
  let answer: ReaderAnswer;
  try {
    database ??= open();
    answer = { id, rows: database.prepare(sql).all(...(values as SQLInputValue[])) };
  } catch (error) {
    answer = { id, fault: toFault(error, file) };
  }
  process.send?.(answer);
});
process.on('disconnect', () => {
  database?.close();
  process.exit();
});
