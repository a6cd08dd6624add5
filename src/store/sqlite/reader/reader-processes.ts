import { type ChildProcess, fork } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { IdkitError, threadModule } from '../../../core/index.ts';
import { fromFault } from '../faults.ts';
import type { ReaderAnswer, ReaderQuestion, StatementReader } from './reader.ts';

/** Timeout of a statement in milliseconds. */
const STATEMENT_MS = 15_000;
/** Time in milliseconds for a statement to end by itself after its caller has disconnected. */
const GRACE_MS = 50;
/**
 * Time in milliseconds between two processes that are killed because a caller has disconnected. The start of another
 * process holds the event loop, for up to 100 ms in a large service.
 */
const KILL_EVERY_MS = 1_000;
/** A process that runs no statement for this many milliseconds is ended. */
const UNUSED_MS = 60_000;
/** Logins and tokens run first if the processors are busy. */
const NICENESS = 15;

type Statement = Pick<ReaderQuestion, 'sql' | 'values'>;

/**
 * Runs slow reads in a few processes, which start when they are needed. Each process runs one statement at a time. If
 * the caller disconnects or the statement takes too long, its process is killed. The statements of callers who have
 * disconnected continue while another process was killed less than a second ago.
 */
export class ReaderProcesses implements StatementReader {
  readonly #location: string;
  readonly #file: string;
  readonly #milliseconds: number;
  readonly #idle: ReaderProcess[] = [];
  readonly #all = new Set<ReaderProcess>();
  /** The time (`performance.now()`) from which another process may be killed because its caller has disconnected. */
  #killAgain = 0;
  #closed = false;

  /** @param milliseconds timeout of a statement. Default: 15,000. */
  constructor(location: string, file: string, milliseconds = STATEMENT_MS) {
    this.#location = location;
    this.#file = file;
    this.#milliseconds = milliseconds;
  }

  /**
   * The caller limits the number of statements that run in parallel. If `signal` is aborted, the promise is rejected
   * when the statement has ended.
   *
   * @throws IDKIT_UNREACHABLE if the statement takes too long, or its process does not start or ends unexpectedly
   */
  async all<R>(sql: string, values: readonly unknown[], signal?: AbortSignal): Promise<R[]> {
    signal?.throwIfAborted();
    if (this.#closed) throw closed();
    const idle = this.#idle.pop();
    try {
      return await this.#ask<R>(idle ?? this.#start(), { sql, values }, signal);
    } catch (error) {
      // The process may have ended before the statement. A statement only reads, so another process can run it again.
      if (idle === undefined || !(error instanceof EndedUnexpectedly) || this.#closed) throw error;
      signal?.throwIfAborted();
      return await this.#ask<R>(this.#start(), { sql, values }, signal);
    }
  }

  async #ask<R>(reader: ReaderProcess, { sql, values }: Statement, signal?: AbortSignal): Promise<R[]> {
    const timeout = setTimeout(() => reader.kill(tooSlow(this.#milliseconds)), this.#milliseconds);
    let grace: NodeJS.Timeout | undefined;
    const abort = () => {
      const wait = Math.max(GRACE_MS, this.#killAgain - performance.now());
      grace = setTimeout(() => {
        if (performance.now() < this.#killAgain) return abort();
        this.#killAgain = performance.now() + KILL_EVERY_MS;
        reader.kill(signal?.reason);
      }, wait);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await reader.ask<R>({ sql, values });
    } finally {
      clearTimeout(timeout);
      clearTimeout(grace);
      signal?.removeEventListener('abort', abort);
      if (reader.isAlive && !this.#closed) this.#idle.push(reader);
    }
  }

  /** Kills running statements and ends all processes. */
  async close(): Promise<void> {
    this.#closed = true;
    const ending = [...this.#all];
    for (const reader of ending) reader.end();
    await Promise.all(ending.map((reader) => reader.ended));
  }

  #start(): ReaderProcess {
    const reader = new ReaderProcess(this.#fork(), () => {
      const place = this.#idle.indexOf(reader);
      if (place !== -1) this.#idle.splice(place, 1);
    });
    this.#all.add(reader);
    void reader.ended.then(() => this.#all.delete(reader));
    return reader;
  }

  /** @throws IDKIT_UNREACHABLE, for example if the system has too little memory */
  #fork(): ChildProcess {
    const [main, thread] = ['./reader-process', './reader-thread'].map((name) =>
      fileURLToPath(threadModule(import.meta.url, name)),
    );
    let child: ChildProcess | undefined;
    try {
      child = fork(main!, [thread!, this.#location, this.#file, String(this.#milliseconds)], {
        // The process needs no secret of the environment.
        env: libraryPaths(),
        execArgv: [],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      // Only root may raise a priority, so a service that was started with a lower one keeps it.
      if (child.pid !== undefined) setPriority(child.pid, Math.max(NICENESS, getPriority(child.pid)));
      return child;
    } catch (error) {
      child?.kill('SIGKILL');
      throw notStarted(error);
    }
  }
}

class ReaderProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #retire: () => void;
  #asked: { resolve(rows: unknown[]): void; reject(error: unknown): void } | undefined;
  #fault: unknown;
  #unused: NodeJS.Timeout | undefined;
  #alive = true;
  #nextId = 1;

  /** @param retire called when the process accepts no more statements */
  constructor(child: ChildProcess, retire: () => void) {
    this.#child = child;
    this.#retire = retire;
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.#leave();
        this.#asked?.reject(this.#fault ?? new EndedUnexpectedly());
        this.#asked = undefined;
        resolve();
      };
      this.#child.once('exit', end);
      this.#child.once('error', (error) => {
        if (this.#child.pid !== undefined) return this.kill(new EndedUnexpectedly(error));
        // The process did not start and has no exit event.
        this.#fault = notStarted(error);
        end();
      });
    });
    this.#child.on('message', (answer) => this.#take(answer as ReaderAnswer));
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  ask<R>({ sql, values }: Statement): Promise<R[]> {
    clearTimeout(this.#unused);
    this.#child.ref();
    this.#child.channel?.ref();
    return new Promise((resolve, reject) => {
      this.#asked = { resolve: (rows) => resolve(rows as R[]), reject };
      // A process that did not start has no channel, and an error event follows.
      if (this.#child.pid === undefined) return;
      const question: ReaderQuestion = { id: this.#nextId++, sql, values };
      this.#child.send(question, (error) => {
        if (error !== null) this.kill(new EndedUnexpectedly(error));
      });
    });
  }

  /** Ends the process in the middle of its statement, which is rejected with `fault`. */
  kill(fault: unknown): void {
    this.#fault ??= fault;
    this.#leave();
    this.#child.kill('SIGKILL');
  }

  /** Ends the process. A statement that runs is rejected. */
  end(): void {
    if (this.#asked !== undefined) this.kill(closed());
    else this.#disconnect();
  }

  #disconnect(): void {
    this.#leave();
    this.#child.ref();
    if (this.#child.connected) this.#child.disconnect();
  }

  #take(answer: ReaderAnswer): void {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#child.unref();
    this.#child.channel?.unref();
    this.#unused = setTimeout(() => this.#disconnect(), UNUSED_MS);
    this.#unused.unref();
    if ('fault' in answer) asked?.reject(fromFault(answer.fault));
    else asked?.resolve(answer.rows);
  }

  #leave(): void {
    this.#alive = false;
    clearTimeout(this.#unused);
    this.#retire();
  }
}

class EndedUnexpectedly extends IdkitError {
  constructor(cause?: unknown) {
    super('IDKIT_UNREACHABLE', 'a process that reads the database ended unexpectedly', { cause });
  }
}

function notStarted(cause: unknown): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', 'a process that reads the database did not start', { cause });
}

function libraryPaths(): NodeJS.ProcessEnv {
  const { LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, SystemRoot } = process.env;
  return { LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, SystemRoot };
}

function closed(): IdkitError {
  return new IdkitError('IDKIT_FAILED', 'the database is closed');
}

function tooSlow(milliseconds: number): IdkitError {
  return new IdkitError(
    'IDKIT_UNREACHABLE',
    `a read of an administrator took longer than ${milliseconds / 1000} s`,
    {
      hints: ['retry with a smaller max or a narrower search'],
    },
  );
}
