import { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Refused } from '../../verbs/apply.ts';
import { drive } from '../../verbs/steps.ts';
import { stepsOf, TOGETHER, type Verb, type Verbs } from '../../verbs/verbs.ts';
import { type Fault, isStorageFault, toFault } from '../faults.ts';
import { prepareForWriting } from '../schema-state.ts';
import { Statements } from '../statements.ts';
import type { Answer, Call, FromWriter, ToWriter } from './writer.ts';

/** Calls of one transaction at most, so that the first of them does not wait long. */
const LARGEST_BATCH = 512;

const { file, progress } = workerData as { file: string; progress: SharedArrayBuffer };
/** [0]: batches committed, for the checkpoint thread; [1]: it asks the writer to finish a checkpoint. */
const shared = new Int32Array(progress);
const port = parentPort!;
const say = (message: FromWriter) => port.postMessage(message);

let database: DatabaseSync | undefined;
try {
  database = new DatabaseSync(file, { timeout: 10_000, enableForeignKeyConstraints: true });
  prepareForWriting(database);
  say({ ready: true });
} catch (error) {
  if (database?.isOpen) database.close();
  say({ failed: toFault(error, file) });
  port.close();
}

if (database?.isOpen) serve(database);

function serve(connection: DatabaseSync): void {
  const sql = new Statements(connection);
  const waiting: Call[] = [];
  let closing = false;
  const take = (message: ToWriter) => {
    if ('close' in message) closing = true;
    else waiting.push(...message.calls);
  };

  port.on('message', (message: ToWriter) => {
    take(message);
    // The next batch gathers in the port's queue while this one is synced to disk.
    for (;;) {
      let more = receiveMessageOnPort(port);
      while (more !== undefined) {
        take(more.message as ToWriter);
        more = receiveMessageOnPort(port);
      }
      if (waiting.length === 0) break;
      say({ answers: commitBatch(sql, waiting.splice(0, LARGEST_BATCH)) });
      Atomics.add(shared, 0, 1);
      Atomics.notify(shared, 0);
      if (Atomics.exchange(shared, 1, 0) === 1) checkpoint(connection, 'PASSIVE');
    }
    if (closing) {
      checkpoint(connection, 'TRUNCATE');
      connection.close();
      say({ closed: true });
      port.close();
    }
  });
}

/** One transaction; nobody is answered before it is on the disk. */
function commitBatch(sql: Statements, calls: readonly Call[]): Answer[] {
  const answers: Answer[] = [];
  try {
    sql.database.exec('BEGIN IMMEDIATE');
    for (const call of calls) answers.push(runCall(sql, call));
    sql.database.exec('COMMIT');
    return answers;
  } catch (error) {
    if (sql.database.isTransaction) sql.database.exec('ROLLBACK');
    const fault: Fault = toFault(error, file);
    return calls.map(({ id }) => ({ id, fault }));
  }
}

/** @throws what concerns the whole batch: the storage's faults */
function runCall(sql: Statements, { id, verb, input }: Call): Answer {
  try {
    return { id, value: runVerb(sql, verb, input) };
  } catch (error) {
    if (isStorageFault(error) || !sql.database.isTransaction) throw error;
    return { id, fault: toFault(error, file) };
  }
}

/** A checkpoint that does not come through is tried again by the next one. */
function checkpoint(connection: DatabaseSync, mode: 'PASSIVE' | 'TRUNCATE'): void {
  try {
    connection.exec(`PRAGMA wal_checkpoint(${mode})`);
  } catch {
    // Nothing is lost: the log is whole and is folded in at the next start.
  }
}

/** Runs one verb inside the batch's transaction. A verb that throws leaves nothing behind. */
function runVerb(sql: Statements, verb: Verb, input: Verbs[Verb]['in']): unknown {
  if (!TOGETHER.has(verb)) return drive(sql, stepsOf(verb, input));
  sql.database.exec('SAVEPOINT verb');
  try {
    const value = drive(sql, stepsOf(verb, input));
    sql.database.exec('RELEASE verb');
    return value;
  } catch (error) {
    // A full disk may have ended the whole transaction already.
    if (sql.database.isTransaction) sql.database.exec('ROLLBACK TO verb; RELEASE verb');
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}
