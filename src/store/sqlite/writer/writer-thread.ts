import { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Refused } from '../../verbs/apply.ts';
import { drive } from '../../verbs/steps.ts';
import { type RowChange, stepsOf, TOGETHER, type Verb, type Verbs } from '../../verbs/verbs.ts';
import { WriterGate } from '../capture/gate.ts';
import { CommitNotes } from '../capture/positions.ts';
import { type Fault, isStorageFault, toFault } from '../faults.ts';
import { prepareForWriting } from '../schema-state.ts';
import { Statements } from '../statements.ts';
import type { Answer, Call, FromWriter, ToWriter } from './writer.ts';

/** Maximum number of calls in one transaction, so that the first one does not wait long. */
const LARGEST_BATCH = 512;

const { file, progress, gate } = workerData as {
  file: string;
  progress: SharedArrayBuffer;
  /** Set if another thread ships the log. */
  gate: SharedArrayBuffer | undefined;
};
/**
 * Numbers shared with the checkpoint thread. [0]: committed batches. [1]: 1 if the writer should finish a checkpoint.
 */
const shared = new Int32Array(progress);
const port = parentPort!;
const send = (message: FromWriter) => port.postMessage(message);

let database: DatabaseSync | undefined;
let notes: CommitNotes | undefined;
try {
  database = new DatabaseSync(file, { timeout: 10_000, enableForeignKeyConstraints: true });
  prepareForWriting(database);
  if (gate !== undefined) {
    notes = new CommitNotes(file);
    // Everything that was committed so far, such as a migration, becomes a moment that can be restored.
    notes.note();
  }
  send({ ready: true });
} catch (error) {
  if (database?.isOpen) database.close();
  send({ failed: toFault(error, file) });
  port.close();
}

if (database?.isOpen) serve(database, gate && new WriterGate(gate));

function serve(connection: DatabaseSync, shipping: WriterGate | undefined): void {
  const sql = new Statements(connection);
  const waiting: Call[] = [];
  /** Calls that take long. They run one at a time, when no other call waits. */
  const long: Call[] = [];
  const parts = new Map<number, RowChange[]>();
  let closing: 'no' | 'with a checkpoint' | 'with its log' = 'no';
  const take = (message: ToWriter) => {
    if ('close' in message) closing = message.close;
    else if ('part' in message) {
      const { id, changes } = message.part;
      const known = parts.get(id);
      if (known === undefined) parts.set(id, [...changes]);
      else known.push(...changes);
    } else for (const call of message.calls) (call.alone ? long : waiting).push(complete(call));
  };
  const complete = (call: Call): Call => {
    const changes = parts.get(call.id);
    parts.delete(call.id);
    return changes === undefined ? call : { ...call, input: { ...call.input, changes } };
  };

  port.on('message', (message: ToWriter) => {
    take(message);
    // While a batch is being synced to the disk, the calls of the next batch collect in the port's queue.
    for (;;) {
      let more = receiveMessageOnPort(port);
      while (more !== undefined) {
        take(more.message as ToWriter);
        more = receiveMessageOnPort(port);
      }
      const batch = waiting.length > 0 ? waiting.splice(0, LARGEST_BATCH) : long.splice(0, 1);
      if (batch.length === 0) break;
      const answers = commitBatch(sql, batch);
      notes?.note();
      send({ answers });
      shipping?.rest();
      Atomics.add(shared, 0, 1);
      Atomics.notify(shared, 0);
      if (Atomics.exchange(shared, 1, 0) === 1) checkpoint(connection, 'PASSIVE');
    }
    if (closing !== 'no') {
      if (closing === 'with a checkpoint') checkpoint(connection, 'TRUNCATE');
      connection.close();
      notes?.close();
      send({ closed: true });
      port.close();
    }
  });
}

/** Runs the calls in one transaction. All of them return when the transaction is durable. */
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

/**
 * Runs one call of a batch, and returns its result or its fault.
 *
 * @throws storage errors, which affect the whole batch
 */
function runCall(sql: Statements, { id, verb, input }: Call): Answer {
  try {
    return { id, value: runVerb(sql, verb, input) };
  } catch (error) {
    if (isStorageFault(error) || !sql.database.isTransaction) throw error;
    return { id, fault: toFault(error, file) };
  }
}

/** Runs a checkpoint. Ignores a failure, because a later checkpoint tries again. */
function checkpoint(connection: DatabaseSync, mode: 'PASSIVE' | 'TRUNCATE'): void {
  try {
    connection.exec(`PRAGMA wal_checkpoint(${mode})`);
  } catch {
    // No data is lost: the log is complete, and the next start copies it.
  }
}

/** Runs one verb inside the batch's transaction. A verb that throws is rolled back. */
function runVerb(sql: Statements, verb: Verb, input: Verbs[Verb]['in']): unknown {
  if (!TOGETHER.has(verb)) return drive(sql, stepsOf(verb, input));
  sql.database.exec('SAVEPOINT verb');
  try {
    const value = drive(sql, stepsOf(verb, input));
    sql.database.exec('RELEASE verb');
    return value;
  } catch (error) {
    // SQLite may have rolled back the whole transaction already, for example because the disk is full.
    if (sql.database.isTransaction) sql.database.exec('ROLLBACK TO verb; RELEASE verb');
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}
