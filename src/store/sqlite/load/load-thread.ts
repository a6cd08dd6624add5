import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { IdkitError, releaseMemory } from '../../../core/index.ts';
import { END_LINE } from '../dump/write-dump.ts';
import { type Fault, isStorageFault, toFault } from '../faults.ts';
import { withoutInvalidText } from '../literals.ts';
import { statementKind } from './check-statement.ts';
import type { FromLoad, ToLoad } from './load.ts';
import { StatementSplitter } from './split-statements.ts';

const { file } = workerData as { file: string };
const port = parentPort!;
const send = (message: FromLoad) => port.postMessage(message);
const splitter = new StatementSplitter();
let database: DatabaseSync | undefined;
let statements = 0;
let ended = false;
let failed = false;

port.on('message', (message: ToLoad) => {
  if (failed) return;
  try {
    if (database === undefined) database = openSideFile();
    if ('chunk' in message) {
      for (const statement of splitter.push(message.chunk)) run(database, statement);
      const taken = message.chunk.byteLength;
      releaseMemory(message.chunk);
      send({ taken });
    } else {
      finish(database);
      send({ done: true });
    }
  } catch (error) {
    failed = true;
    const fault = faultOf(error);
    if (database?.isOpen) database.close();
    send({ fault });
  }
});

/**
 * Opens the new file without a journal and without syncing: no other process uses it yet, and after a crash it is
 * discarded.
 */
function openSideFile(): DatabaseSync {
  const side = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  side.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -16384;
  `);
  // The sorter of an index can be as large as its table, so it does not stay in memory. /tmp often does.
  side.exec(
    `PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '${dirname(file).replaceAll("'", "''")}'`,
  );
  return side;
}

function run(side: DatabaseSync, statement: Buffer): void {
  statements++;
  const kind = statementKind(statement);
  if (kind === undefined || ended)
    throw damaged(`statement ${statements} does not belong in a dump: ${excerpt(statement)}`);
  if (kind !== 'pragma' && kind !== 'begin' && !side.isTransaction)
    throw damaged(`statement ${statements} is outside the transaction`);
  side.exec(withoutInvalidText(statement).toString('utf8'));
  if (kind === 'commit') ended = true;
}

function finish(side: DatabaseSync): void {
  if (!ended || splitter.end().trim() !== END_LINE)
    throw damaged(`the dump is truncated: its last line is not "${END_LINE}"`);
  side.exec("PRAGMA temp_store_directory = ''");
  side.close();
}

function damaged(message: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', message, { cause });
}

/** Returns the fault for an error. An error of SQLite means that the dump is damaged, unless the disk caused it. */
function faultOf(error: unknown): Fault {
  if (error instanceof IdkitError || isStorageFault(error)) return toFault(error, file);
  const fault = toFault(error, file);
  if (fault.code !== undefined) return fault;
  return { code: 'IDKIT_DAMAGED', message: `statement ${statements} of the dump failed: ${fault.message}` };
}

/** Returns the start of a statement for a message, but never the values of a row. */
function excerpt(statement: Buffer): string {
  const head = statement.toString('latin1', 0, 40).replace(/[^\x20-\x7e]/g, '?');
  return /^INSERT/i.test(head) ? 'INSERT with more than literals' : head;
}
