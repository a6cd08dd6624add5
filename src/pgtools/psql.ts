import { createInterface } from 'node:readline';
import type { PostgresAddress } from '../config/index.ts';
import { IdkitError, type Random, type Secret } from '../core/index.ts';
import { explainEnd, mayRefusePassword, SOON } from './faults.ts';
import type {
  FoundProgram,
  PostgresPrograms,
  ProgramEnd,
  ProgramTarget,
  RunningProgram,
} from './programs/programs.ts';
import { connectSeconds } from './programs/programs.ts';
import { connectionValue, literal } from './quote.ts';

/** Timeout of one statement in seconds. */
const STATEMENT_SECONDS = 60;
/** Pause in milliseconds between two attempts to reach a server that is starting. */
const BETWEEN_ATTEMPTS = 250;

/** One line of psql's output, parsed as JSON. */
export type JsonRow = Readonly<Record<string, unknown>>;

export interface QueryOptions {
  signal?: AbortSignal | undefined;
  /** Timeout of each statement in seconds. Default: 60. */
  seconds?: number;
  /** Time in seconds to wait for a server that is starting or stopping. Default: 0. */
  patience?: number;
  /** Timeout in seconds for waiting for another session's lock. Default: the timeout of the statement. */
  lockSeconds?: number;
  applicationName?: string;
}

/** A psql process that keeps running, so that one transaction can span several queries. */
export interface PsqlSession {
  /** Runs statements and returns their rows. Each row must be one JSON object. */
  ask(sql: string): Promise<readonly JsonRow[]>;
  /** Ends psql and rolls back an open transaction. Idempotent. */
  close(): Promise<void>;
}

/** One database server, reached only through psql. */
export interface Psql {
  /** Hosts and ports, for messages. */
  readonly location: string;
  /**
   * Runs statements in a new psql process and returns their rows. Each row must be one JSON object.
   *
   * @throws the error that `explainEnd` derives from psql's report
   */
  query<Row extends object = JsonRow>(
    database: string,
    sql: string,
    options?: QueryOptions,
  ): Promise<readonly Row[]>;
  openSession(database: string, options: QueryOptions): Promise<PsqlSession>;
  /** Starts a psql process and lets the caller write its input. An earlier `query` must have found the password. */
  startPsql(
    database: string,
    applicationName: string,
  ): Promise<{ program: FoundProgram; run: RunningProgram }>;
  /** Returns the arguments and the target with which another client program connects. */
  connect(database: string, applicationName: string): { args: string[]; target: ProgramTarget };
  /** The password that the server accepted; undefined before the first query. */
  readonly password: Secret | undefined;
  /** Makes this the first password that later queries try. */
  preferPassword(password: Secret | undefined): void;
  /** Ends every session with this application name. */
  terminate(database: string, applicationName: string): Promise<void>;
}

export interface PsqlOptions {
  address: PostgresAddress;
  /** Passwords to try in this order. If the list is empty, libpq looks for a password itself. */
  passwords: readonly Secret[];
  programs: PostgresPrograms;
  random: Random;
}

export function openPsql(options: PsqlOptions): Psql {
  const { address, programs, random } = options;
  const location = address.hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  let passwords: readonly (Secret | undefined)[] =
    options.passwords.length === 0 ? [undefined] : options.passwords;
  let settled: Secret | undefined;

  const connect: Psql['connect'] = (database, applicationName) => ({
    args: ['--no-password', `--dbname=${connectionString(database)}`],
    target: { address, password: passwords[0], applicationName },
  });
  const startPsql: Psql['startPsql'] = async (database, applicationName) => {
    const program = await programs.find('psql');
    const { args, target } = connect(database, applicationName);
    return { program, run: await program.start([...PSQL_ARGUMENTS, ...args], target) };
  };

  /** Tries `work` with each password until the server accepts one. */
  async function withPassword<T>(work: () => Promise<T>): Promise<T> {
    for (let left = passwords.length - 1; ; left--) {
      try {
        const value = await work();
        settled = passwords[0];
        return value;
      } catch (error) {
        const refused = error instanceof IdkitError && mayRefusePassword(error);
        if (!refused || left <= 0) throw error;
        passwords = [...passwords.slice(1), passwords[0]];
      }
    }
  }

  async function runOnce(
    database: string,
    sql: string,
    options: QueryOptions,
  ): Promise<ProgramEnd & { stdout: string }> {
    const { signal, seconds = STATEMENT_SECONDS, applicationName = 'idkit' } = options;
    signal?.throwIfAborted();
    const { run } = await startPsql(database, applicationName);
    const stop = () => run.kill();
    signal?.addEventListener('abort', stop);
    if (signal?.aborted === true) stop();
    let late = false;
    // Ends psql if the server, which normally ends a late statement itself, no longer responds.
    const timer = setTimeout(
      () => {
        late = true;
        stop();
      },
      (seconds + connectSeconds(address) + 5) * 1000,
    );
    try {
      run.stdin.end(`${preamble(options)}${sql}\n`);
      const stdout = await readAll(run);
      const end = await run.ended;
      signal?.throwIfAborted();
      if (late)
        throw new IdkitError('IDKIT_UNREACHABLE', `the database ${database} at ${location} does not respond`);
      return { ...end, stdout };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  const psql: Psql = {
    location,
    connect,
    startPsql,
    get password() {
      return settled;
    },
    preferPassword(password) {
      passwords = [password, ...passwords.filter((one) => one?.reveal() !== password?.reveal())];
    },

    query: <Row extends object>(database: string, sql: string, options: QueryOptions = {}) =>
      withPassword(async () => {
        const until = performance.now() + (options.patience ?? 0) * 1000;
        for (;;) {
          const end = await runOnce(database, sql, options);
          if (end.code === 0) return parseRows<Row>(end.stdout);
          if (!isSoon(end) || performance.now() >= until)
            throw explainEnd('psql', end, { database, location });
          await new Promise((resolve) => setTimeout(resolve, BETWEEN_ATTEMPTS));
        }
      }),

    openSession: (database, options) =>
      withPassword(async () => {
        const { run } = await startPsql(database, options.applicationName ?? 'idkit');
        const session = holdSession(run, random, options.signal, (end) =>
          explainEnd('psql', end, { database, location }),
        );
        try {
          await session.ask(preamble(options));
          return session;
        } catch (error) {
          await session.close();
          throw error;
        }
      }),

    async terminate(database, applicationName) {
      await psql.query(
        database,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = ${literal(applicationName)} AND pid <> pg_backend_pid()`,
        { seconds: 10 },
      );
    },
  };
  return psql;
}

/**
 * With these arguments, psql reads no start-up file, prints no headers, stops at the first error and shows the
 * SQLSTATE.
 */
const PSQL_ARGUMENTS = [
  '--no-psqlrc',
  '--quiet',
  '--no-align',
  '--tuples-only',
  '--set=ON_ERROR_STOP=1',
  '--set=VERBOSITY=verbose',
];

/** Returns statements that override settings of the role and of the database for this session. */
function preamble({ seconds = STATEMENT_SECONDS, lockSeconds = 0 }: QueryOptions): string {
  return [
    'SET client_min_messages = warning;',
    `SET statement_timeout = ${seconds * 1000};`,
    `SET lock_timeout = ${lockSeconds * 1000};`,
    'SET idle_in_transaction_session_timeout = 0;',
    'SET default_transaction_read_only = off;',
    'SET standard_conforming_strings = on;',
    '',
  ].join('\n');
}

/** Returns a connection string that names only the database. Keep-alives detect a server that disappeared. */
function connectionString(database: string): string {
  return [
    `dbname=${connectionValue(database)}`,
    'keepalives_idle=30',
    'keepalives_interval=10',
    'keepalives_count=3',
    'tcp_user_timeout=60000',
  ].join(' ');
}

/** Returns whether the server may respond to the next attempt. */
function isSoon(end: ProgramEnd): boolean {
  return end.unreached?.code === 'IDKIT_UNREACHABLE' || SOON.test(end.stderr);
}

async function readAll(run: RunningProgram): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of run.stdout) chunks.push(chunk as Buffer);
  } catch {
    // If the program is killed, its output is truncated; `ended` reports why it ended.
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseRows<Row>(text: string): readonly Row[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Row);
}

function holdSession(
  run: RunningProgram,
  random: Random,
  signal: AbortSignal | undefined,
  explain: (end: ProgramEnd) => IdkitError,
): PsqlSession {
  const lines = createInterface({ input: run.stdout, crlfDelay: Number.POSITIVE_INFINITY });
  let onLine: (line: string) => void = () => undefined;
  lines.on('line', (line) => onLine(line));
  const stop = () => run.kill();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  const broken = run.ended.then((end): never => {
    signal?.throwIfAborted();
    throw explain(end);
  });
  // A pending `ask` rejects with this error. After `close` the error can be ignored.
  broken.catch(() => undefined);
  return {
    async ask(sql) {
      signal?.throwIfAborted();
      const mark = `idkit-${random.bytes(8).toString('hex')}`;
      const answered = new Promise<readonly string[]>((resolve) => {
        const rows: string[] = [];
        onLine = (line) => (line === mark ? resolve(rows) : rows.push(line));
      });
      run.stdin.write(`${sql}\n\\echo ${mark}\n`);
      const rows = await Promise.race([answered, broken]);
      return parseRows<JsonRow>(rows.join('\n'));
    },
    async close() {
      signal?.removeEventListener('abort', stop);
      run.stdin.end();
      const timer = setTimeout(stop, 5_000);
      await run.ended;
      clearTimeout(timer);
      lines.close();
    },
  };
}
