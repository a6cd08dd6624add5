import type { DatabaseSync } from 'node:sqlite';
import type { Compilable } from 'kysely';
import { type Clock, callerSignal, IdkitError, isAdministrative } from '../../core/index.ts';
import type { CountDrift, ServiceOnDatabase, Store, StoreFigures } from '../contract/index.ts';
import { SCHEMA_VERSION } from '../migrations/index.ts';
import { COMPILED_QUERIES } from '../queries/compiled/sqlite.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import type { Sealing } from '../records/configuration.ts';
import { configurationSource, type RealmKey, realmSteps } from '../records/configuration-source.ts';
import { readIds } from '../records/id-bytes.ts';
import type { RealmRows } from '../records/realm-rows.ts';
import type { Answer, Arguments, Row } from '../schema.ts';
import { ConfigurationCache } from '../sql/configuration-cache.ts';
import type { DriftQuery } from '../sql/counts.ts';
import { SqlMovingSessions } from '../sql/moving-sessions.ts';
import { isLongWrite, type Kind, kindOfSearch, kindOfWrite, WaitingRoom } from '../sql/waiting-room.ts';
import { drive } from '../verbs/steps.ts';
import type { Verb, Verbs } from '../verbs/verbs.ts';
import { mapFault } from './faults.ts';
import type { StatementReader } from './reader/reader.ts';
import { ReaderProcesses } from './reader/reader-processes.ts';
import { readLargeRealm, readSmallRealm } from './realm-reads.ts';
import { databaseBytes, schemaVersion } from './schema-state.ts';
import { hasSearchIndex } from './search-index.ts';
import { boundValues, Statements } from './statements.ts';
import type { Writer } from './writer/writer.ts';

/** Maximum number of processes for the reads of administrators. */
const PROCESSES = 3;

/** Timeout in milliseconds for counting all records of a check. */
const COUNT_MS = 3_600_000;

/** Limits of the writes of administrators. Programs that create many users send many of them in parallel. */
const CHANGES = { atOnce: 64, slowAtOnce: 1, seats: 1_000, patience: 30_000 };

/** The dependencies of the store. A read-only store has no `writer`. */
export interface SqliteParts {
  file: string;
  database: DatabaseSync;
  reader: StatementReader;
  /** Runs the reads of administrators. */
  administration: StatementReader;
  writer: Writer | undefined;
  sealing: Sealing;
  clock: Clock;
  /** Called when everything is closed. */
  closed(): void;
}

/**
 * The store on SQLite. Single rows are read on the main thread. Writes run in the writer thread, and long reads in a
 * reader thread. Reads of administrators run in processes of their own. A write resolves after its commit, so every
 * later read sees it.
 */
export class SqliteStore extends SqlMovingSessions {
  protected readonly dialect = 'sqlite';
  protected readonly sealing: Sealing;
  readonly clock: Clock;
  readonly sliceMilliseconds = 3;
  readonly smallestSlice = 100;
  protected readonly cache: ConfigurationCache;
  readonly #parts: SqliteParts;
  readonly #sql: Statements;
  readonly #room = new WaitingRoom({ atOnce: PROCESSES });
  /** The writes of administrators. */
  readonly #changes = new WaitingRoom(CHANGES);
  /** Reads of large realms in progress. */
  readonly #running = new Set<Promise<unknown>>();
  #counting: ReaderProcesses | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SqliteParts) {
    super();
    this.#parts = parts;
    this.sealing = parts.sealing;
    this.clock = parts.clock;
    this.#sql = new Statements(parts.database);
    this.cache = new ConfigurationCache(
      configurationSource(parts.sealing.keyring, {
        one: (steps) => this.#read(() => drive(this.#sql, steps())),
        snapshot: (steps) => this.#read(() => inSnapshot(parts.database, () => drive(this.#sql, steps()))),
        realm: (find) => this.#realm(find),
      }),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await Promise.all([
      this.#parts.reader.close(),
      this.#parts.administration.close(),
      this.#counting?.close(),
    ]);
    this.#parts.database.close();
    await this.#parts.writer?.close();
    this.#parts.closed();
  }

  lanes(): ReturnType<Store['lanes']> {
    return { reads: this.#room.figures, changes: this.#changes.figures };
  }

  async listServices(): Promise<readonly ServiceOnDatabase[]> {
    this.checkOpen();
    return [];
  }

  async figures(): Promise<StoreFigures> {
    const { database } = this.#parts;
    return this.readFigures({
      schemaVersion: this.#read(() => schemaVersion(database)),
      databaseBytes: this.#read(() => databaseBytes(database)),
    });
  }

  /** Returns false for an older file that is open for reading, which has no kept counts. */
  protected override hasCounts(): boolean {
    return schemaVersion(this.#parts.database) === SCHEMA_VERSION;
  }

  /** Counts in a separate process, which ends afterwards. */
  protected async readDrift(query: DriftQuery): Promise<readonly CountDrift[]> {
    this.checkOpen();
    const { file } = this.#parts;
    const reader = new ReaderProcesses(file, file, COUNT_MS);
    this.#counting = reader;
    try {
      return await reader.all<CountDrift>(COMPILED_QUERIES[query].sql, []);
    } finally {
      this.#counting = undefined;
      await reader.close();
    }
  }

  /** Returns true: on SQLite, the slices build everything. */
  protected async buildIndexes(): Promise<boolean> {
    return true;
  }

  /** A SQLite database has only one store that writes. */
  protected async leadsSweep(): Promise<{ leads: boolean }> {
    return { leads: true };
  }

  /** A database from a dump has no search index until it is opened for writing. */
  protected override async hasSearchIndex(): Promise<boolean> {
    return this.#read(() => hasSearchIndex(this.#parts.database)) && (await super.hasSearchIndex());
  }

  protected checkOpen(): void {
    if (this.#closing !== undefined) throw new IdkitError('IDKIT_FAILED', 'the database is closed');
  }

  protected get<Q extends QueryName>(query: Q, values: SlotsOf<Q>): RowOf<Q> | undefined {
    return this.#read(() => this.#sql.get(query, values));
  }

  protected all<Q extends QueryName>(query: Q, values: SlotsOf<Q>): RowOf<Q>[] {
    return this.#read(() => this.#sql.all(query, values));
  }

  protected async long<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]> {
    const { sql, bound, ids } = boundQuery(query, values);
    return readIds(await this.#parts.reader.all<Row>(sql, bound), ids) as RowOf<Q>[];
  }

  protected async administrative<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]> {
    const { sql, bound, ids } = boundQuery(query, values);
    return readIds(await this.#administrate<Row>(sql, bound, { name: query }), ids) as RowOf<Q>[];
  }

  protected search<R>(query: Compilable<R>): Promise<R[]> {
    const { sql, parameters } = query.compile();
    return this.#administrate(sql, parameters, kindOfSearch(sql));
  }

  /**
   * Runs an administrator's statement in one of the processes. The number of waiting statements is limited.
   */
  #administrate<R>(sql: string, values: readonly unknown[], kind: Kind): Promise<R[]> {
    const signal = callerSignal();
    const read = () => this.#parts.administration.all<R>(sql, values, signal);
    return this.#room.use(read, { kind, signal });
  }

  protected write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']> {
    const { writer } = this.#parts;
    if (writer === undefined)
      return Promise.reject(new IdkitError('IDKIT_FAILED', 'the database is open for reading only'));
    if (!isAdministrative()) return writer.call(verb, input);
    const kind = kindOfWrite(verb, input);
    const alone = isLongWrite(kind) || this.#changes.isSlow(kind);
    return this.#changes.use(() => writer.call(verb, input, alone), { kind });
  }

  #realm(find: RealmKey): Answer<RealmRows | undefined> {
    const { database, file, writer } = this.#parts;
    // A read-only store serves no requests, so nothing waits for its reads.
    const readRows = () =>
      writer === undefined ? drive(this.#sql, realmSteps(find)) : readSmallRealm(this.#sql, find);
    const rows = this.#read(() => inSnapshot(database, readRows));
    if (rows !== 'large') return rows;
    const read = readLargeRealm(file, find).catch((error: unknown) => {
      throw mapFault(error, file);
    });
    this.#running.add(read);
    const done = () => this.#running.delete(read);
    read.then(done, done);
    return read;
  }

  /** Reads on the connection of the main thread. */
  #read<T>(read: () => T): T {
    this.checkOpen();
    try {
      return read();
    } catch (error) {
      throw mapFault(error, this.#parts.file);
    }
  }
}

function boundQuery(query: QueryName, values: Arguments) {
  const { sql, bind, ids } = COMPILED_QUERIES[query];
  return { sql, bound: boundValues(bind, values, sql), ids };
}

function inSnapshot<T>(database: DatabaseSync, read: () => T): T {
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    database.exec('COMMIT');
  }
}
