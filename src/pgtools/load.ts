import { IdkitError } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { explainEnd } from './faults.ts';
import type { ProgramEnd, RunningProgram } from './programs/programs.ts';
import { fitDump, guardLines } from './transform.ts';

/**
 * Settings for this session only. `standard_conforming_strings` matches the string syntax under which the dump was
 * verified.
 */
const SESSION = `SET standard_conforming_strings = on;
SET synchronous_commit = off;
SET maintenance_work_mem = '128MB';
BEGIN READ WRITE;
`;
/** Number of bytes at the end of psql's output that are kept. */
const ANSWER_BYTES = 1024;
/** SQLSTATE classes that mean that the SQL of the dump is at fault, not the server. */
const BAD_SQL = /\b(22|23|42|2B|0A)[0-9A-Z]{3}:/;

/**
 * Loads a dump into an empty database in one transaction. It commits only if `sql` ends without an error, so `sql` must
 * throw for a damaged dump. After an error the database is still empty.
 *
 * @throws IDKIT_DAMAGED, IDKIT_NO_SPACE, IDKIT_UNREACHABLE; errors of `sql` unchanged
 */
export async function loadGuarded(
  context: PostgresContext,
  target: string,
  sql: AsyncIterable<Uint8Array>,
  options: {
    id: string;
    serverMajor: number;
    signal: AbortSignal;
    onProgress?: (bytes: number) => void;
  },
): Promise<void> {
  const { psql, random } = context;
  const { signal } = options;
  const applicationName = `idkit-restore-${options.id}`;
  const { program, run } = await psql.startPsql(target, applicationName);
  const fits = { psql: program.version, serverMajor: options.serverMajor };
  const guard = guardLines(fits, random);
  const word = random.bytes(12).toString('hex');
  const answer = keepTail(run);
  const feed = new Feed(run);
  const stop = () => run.kill();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  let loaded = false;
  try {
    let bytes = 0;
    await feed.write(Buffer.from(SESSION + guard.before));
    for await (const chunk of fitDump(sql, fits)) {
      if (!(await feed.write(chunk))) break;
      bytes += chunk.length;
      options.onProgress?.(bytes);
    }
    await feed.write(Buffer.from(`\n${guard.after}COMMIT;\nSELECT '${word}';\n`));
    run.stdin.end();
    const end = await run.ended;
    signal.throwIfAborted();
    if (end.code !== 0) throw explainLoad(end, target, psql.location);
    if (!(await answer).includes(word))
      throw new IdkitError('IDKIT_FAILED', 'psql exited successfully before it had read all of its input');
    loaded = true;
  } finally {
    signal.removeEventListener('abort', stop);
    if (!loaded) {
      // psql is killed before COMMIT, so the server rolls the transaction back.
      stop();
      await run.ended;
      await context.endBackends(applicationName);
    }
  }
}

/** Writes psql's input as fast as psql reads it. */
class Feed {
  readonly #run: RunningProgram;
  #over = false;
  #wake = () => {};

  constructor(run: RunningProgram) {
    this.#run = run;
    run.stdin.on('drain', () => this.#wake());
    run.ended.then(() => {
      this.#over = true;
      this.#wake();
    });
  }

  /** Returns false once psql has ended; `ended` reports why. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.#over) return false;
    const room = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (!this.#run.stdin.write(chunk) && !this.#over) await room;
    return !this.#over;
  }
}

async function keepTail(run: RunningProgram): Promise<string> {
  let tail = '';
  run.stdout.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('latin1')).slice(-ANSWER_BYTES);
  });
  await run.ended;
  return tail;
}

function explainLoad(end: ProgramEnd, database: string, location: string): IdkitError {
  const error = explainEnd('psql', end, { database, location });
  if (error.code !== 'IDKIT_FAILED' || !BAD_SQL.test(error.message)) return error;
  return new IdkitError('IDKIT_DAMAGED', `the dump cannot be loaded: ${error.message}`, {
    hints: error.hints,
  });
}

/** Timeout in seconds for the check of one constraint. */
const CHECK_SECONDS = 3600;

/**
 * Checks that every foreign key of a loaded database holds and that every index is complete. The load itself checks
 * the constraints that were valid in the source, so only the others are checked here.
 *
 * @throws IDKIT_DAMAGED
 */
export async function checkConstraints({ psql }: PostgresContext, name: string): Promise<void> {
  const found = await psql.query(
    name,
    `SELECT json_build_object('table', conrelid::regclass::text, 'constraint', quote_ident(conname))
       FROM pg_constraint WHERE contype = 'f' AND NOT convalidated;
     SELECT json_build_object('index', indexrelid::regclass::text) FROM pg_index WHERE NOT indisvalid OR NOT indisready;`,
  );
  for (const row of found) {
    if (typeof row['index'] === 'string') throw damaged(`its index ${row['index']} is incomplete`);
    const validate = `ALTER TABLE ${String(row['table'])} VALIDATE CONSTRAINT ${String(row['constraint'])};`;
    try {
      await psql.query(name, validate, { seconds: CHECK_SECONDS });
    } catch (error) {
      if (!(error instanceof IdkitError) || !/\b23503\b/.test(error.message)) throw error;
      throw damaged(`a row of ${String(row['table'])} violates the foreign key ${String(row['constraint'])}`);
    }
  }
}

function damaged(why: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the loaded database is damaged: ${why}`);
}
