import { type DumpReport, renderKeycloakVersion } from '../../backupset/index.ts';
import type { PostgresAddress, Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import {
  type ConnectionOptions,
  checkConstraints,
  checkServerFits,
  createStaged,
  discardDatabases,
  dumpPostgres,
  emptyLive,
  findDatabases,
  findTraits,
  handOver,
  hasServiceTables,
  loadGuarded,
  makeRoles,
  openContext,
  openLocalPrograms,
  type PostgresContext,
  queryBeside,
  readServer,
  readServiceFacts,
  reopen,
  SERVICE_SCHEMAS,
  setPassword,
  stagedBytes,
  swapDatabases,
  swapDatabasesBack,
  swapNames,
} from '../../pgtools/index.ts';
import type {
  DatabaseIdentity,
  DatabaseInfo,
  DatabaseInspection,
  DatabaseSpace,
  DumpSummary,
  FoundMoment,
  LoadedDatabase,
  LoadOptions,
  Moment,
  PlatformDatabase,
  StagedDatabase,
  StoreAccess,
  SwapOptions,
} from '../contract.ts';
import { checkVersionFit } from '../keycloak/version-fit.ts';
import { pipeDump } from './archive/dump-stream.ts';
import type { ArchiveSettings } from './archive/moment.ts';
import { checkDumpFits, checkSeals } from './check-dump.ts';
import { checkUnused, type Gate } from './gate.ts';
import { digestPostgresCredentials, identifyPostgres } from './identify.ts';
import { inspectPostgres } from './inspect.ts';
import { checkLoadedSchema, discardLoadedDerived } from './loaded-schema.ts';
import { peek } from './peek.ts';

/** Timeout in seconds for counting the users of a large database. */
const COUNT_SECONDS = 600;
/** Timeout in seconds for updating the statistics of a loaded database. */
const ANALYZE_SECONDS = 3600;
/** Time in seconds to wait for a server that is starting, so that a short restart does not prevent a rollback. */
const PATIENCE = 15;

export interface PostgresDatabaseOptions extends ConnectionOptions {
  /** The address without its password, for messages and journals. */
  location: string;
  /** True if the server requests no password. A successful login then does not prove which password the role has. */
  asksNoPassword?: boolean;
  masterKey: Secret | undefined;
  masterKeyOld: Secret | undefined;
  /** The service's own store. Absent if no method of `StoreAccess` is called. */
  store?: StoreAccess;
  /** Keeps services out of the database. Absent if only the platform's own service can reach it. */
  gate?: Gate;
  /** True if services on other machines may use the database. A restore then checks for them and keeps them out. */
  sharedWithServices?: boolean;
  /** Where the archive is, and the database in it. Default: the database of these options. */
  archive?: Pick<Settings, 'backup' | 'dir' | 'masterKey'> & { address?: PostgresAddress };
  /** Returns whether the database's container is stopped. Absent if the database is not in a container. */
  isStopped?(): Promise<boolean>;
}

/** The database of idkit's own service or of Keycloak on a Postgres server. It connects when a method is called. */
export class PostgresDatabase implements PlatformDatabase {
  readonly #options: PostgresDatabaseOptions;
  readonly #context: PostgresContext;
  /** The dump that `checkDump` accepted last. */
  #expected: DumpReport | undefined;
  #versionNote: string | undefined;

  constructor(options: PostgresDatabaseOptions) {
    this.#options = options;
    this.#context = openContext(options);
  }

  info(): DatabaseInfo {
    const databaseName = this.#context.database;
    return { database: 'postgres', databaseLocation: this.#options.location, databaseName };
  }

  identify(): Promise<DatabaseIdentity | undefined> {
    return this.#unlessStopped<DatabaseIdentity | undefined>(
      () => identifyPostgres(this.#context),
      undefined,
    );
  }

  digestCredentials(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return digestPostgresCredentials(this.#context, ids);
  }

  dump(
    write: (chunk: Uint8Array) => Promise<void>,
    options: { signal: AbortSignal; onProgress?: (bytes: number, total?: number) => void },
  ): Promise<DumpSummary> {
    return dumpPostgres(this.#context, write, options);
  }

  async checkDump(dump: DumpReport, swap: SwapOptions & { asks?: boolean } = {}): Promise<void> {
    // The check of the server may be skipped here: if the server's container is stopped, the restore starts it and
    // checks the server before the load.
    if (swap.asks === false) checkDumpFits(this.#options, dump, swap);
    else await this.#unlessStopped(() => this.#checkDumpAtServer(dump, swap), undefined);
  }

  async load(
    sql: AsyncIterable<Uint8Array>,
    { id, signal, onProgress, inPlace = false }: LoadOptions,
  ): Promise<LoadedDatabase> {
    const context = this.#context;
    const { head, whole } = await peek(sql);
    const { major: serverMajor } =
      this.#expected === undefined
        ? await readServer(context)
        : await checkServerFits(context, this.#expected, { inPlace });
    const notes = [...(await this.#makeEmpty(id, head, inPlace))];
    const target = this.#targetOf(id, inPlace);
    if (context.administrator !== undefined) await handOver(context, target, this.#options.address.user);
    await loadGuarded(context, target, whole, {
      id,
      serverMajor,
      signal,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    if (this.#versionNote !== undefined) notes.push(this.#versionNote);
    return { location: target, ...(notes.length === 0 ? {} : { notes }) };
  }

  async findMoment(
    moment: Moment,
    masterKey: Secret | undefined,
    signal?: AbortSignal,
  ): Promise<FoundMoment> {
    const { findPostgresMoment } = await import('./archive/moment.ts');
    return findPostgresMoment(this.#archive, moment, masterKey, signal ?? AbortSignal.any([]));
  }

  async loadMoment(found: FoundMoment, options: LoadOptions): Promise<LoadedDatabase> {
    const { recoverPostgresMoment } = await import('./archive/moment.ts');
    const copy = await recoverPostgresMoment(this.#archive, found, options);
    const { service } = this.#options;
    const source = openContext({ ...copy, password: undefined, programs: openLocalPrograms(), service });
    return pipeDump(
      (write) => dumpPostgres(source, write, { signal: options.signal }),
      (sql) => this.load(sql, options),
    ).finally(() => copy.close());
  }

  async checkLoaded(
    id: string,
    masterKey: Secret | undefined,
    { signal, inPlace = false }: SwapOptions & { signal?: AbortSignal } = {},
  ): Promise<StagedDatabase> {
    const target = this.#targetOf(id, inPlace);
    await checkConstraints(this.#context, target);
    // Without statistics, the first queries on a loaded database would be slow.
    const limits = { ...(signal === undefined ? {} : { signal }), seconds: ANALYZE_SECONDS };
    const [facts] = await Promise.all([
      this.#readFacts(target),
      this.#context.psql.query(target, 'ANALYZE;', limits),
    ]);
    const owner = { ...this.#options, masterKey: masterKey ?? this.#options.masterKey };
    await checkSeals(this.#context, target, owner, facts.schemaVersion);
    if (owner.service === 'idkit') {
      await checkLoadedSchema(this.#context, target, facts.schemaVersion);
      await discardLoadedDerived(this.#context, target, facts.schemaVersion, signal);
    }
    return { ...facts, location: target };
  }

  async swap(id: string, { inPlace = false }: SwapOptions = {}): Promise<void> {
    const context = this.#context;
    const password = await this.#passwordToSet(this.#options.password);
    await checkUnused(context);
    const closed = this.#options.gate?.isWanted === true;
    if (inPlace) await setPassword(context, password);
    const { replaced } = inPlace
      ? { replaced: false }
      : await swapDatabases(context, this.#names(id), id, { password, closed });
    if (password !== undefined) context.psql.preferPassword(password);
    if (replaced) await this.#shutGate();
    else if (closed) await reopen(context, context.database);
  }

  async swapBack(id: string, { password }: { password?: Secret | undefined } = {}): Promise<void> {
    await swapDatabasesBack(this.#context, this.#names(id), id, await this.#passwordToSet(password));
    if (password !== undefined) this.#context.psql.preferPassword(password);
  }

  stagedBytes(id: string): Promise<number> {
    return stagedBytes(this.#context, this.#names(id));
  }

  discard(id: string, options: { previous: boolean }): Promise<void> {
    return discardDatabases(this.#context, this.#names(id), options);
  }

  inspect(): Promise<DatabaseInspection> {
    return inspectPostgres(this.#context);
  }

  findSpace(): Promise<DatabaseSpace> {
    return this.#unlessStopped(() => this.#findSpaceAtServer(), {
      place: 'the database',
      here: false,
      freeBytes: undefined,
    });
  }

  async checkMasterKey(): Promise<void> {
    const { database } = this.#context;
    const { schemaVersion } = await this.#readFacts(database);
    if (schemaVersion > 0) await checkSeals(this.#context, database, this.#options, schemaVersion);
  }

  checkUnused(): Promise<void> {
    return checkUnused(this.#context);
  }

  async keepServicesOut(): Promise<{ release(): Promise<void> }> {
    const { gate, sharedWithServices } = this.#options;
    if (gate === undefined || sharedWithServices !== true) return { release: async () => undefined };
    await gate.shut();
    return { release: () => gate.open() };
  }

  readSnapshot(): ReturnType<StoreAccess['readSnapshot']> {
    return this.#store.readSnapshot();
  }

  readStatus(): ReturnType<StoreAccess['readStatus']> {
    return this.#unlessStopped(() => this.#store.readStatus(), { unenforced: [], migrations: [] });
  }

  recoverAdministrator(username: string): Promise<{ password: Secret }> {
    return this.#store.recoverAdministrator(username);
  }

  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }> {
    return this.#store.changeMasterKey(from, to);
  }

  /** Returns whether a service has created its tables. */
  async hasTables(): Promise<boolean> {
    const { database } = this.#context;
    return (await this.#exists()) && hasServiceTables(this.#schema, this.#ask(database));
  }

  /**
   * Returns the schema version of the live database, comparable with a dump's `schemaVersion`. Returns 0 if the
   * database or its tables do not exist.
   */
  async readSchemaVersion(): Promise<number> {
    const { database } = this.#context;
    return (await this.#exists()) ? (await this.#readFacts(database)).schemaVersion : 0;
  }

  get #store(): StoreAccess {
    const { store } = this.#options;
    if (store === undefined) throw new IdkitError('IDKIT_BUG', 'the database was opened without its store');
    return store;
  }

  get #archive(): ArchiveSettings {
    const { archive, address, service } = this.#options;
    if (archive === undefined)
      throw new IdkitError('IDKIT_SETTING', 'restore --at needs the archive of the platform’s own database');
    return { address, service, ...archive };
  }

  get #schema() {
    return SERVICE_SCHEMAS[this.#options.service];
  }

  async #checkDumpAtServer(dump: DumpReport, swap: SwapOptions): Promise<void> {
    const context = this.#context;
    // A restore cannot stop services on other machines, so it reports them before it changes anything.
    if (this.#options.sharedWithServices === true) await this.checkUnused();
    checkDumpFits(this.#options, dump, swap);
    this.#expected = dump;
    if (context.administrator !== undefined)
      await makeRoles(context, dump.postgres?.roles ?? [], this.#options.address.user);
    await checkServerFits(context, dump, swap);
    if (this.#options.service === 'keycloak') this.#versionNote = await this.#checkKeycloakVersion(dump);
  }

  /**
   * Compares the Keycloak versions of the dump and the platform. The live database records the last version that
   * started on it.
   */
  async #checkKeycloakVersion(dump: DumpReport): Promise<string | undefined> {
    const server = renderKeycloakVersion(await this.readSchemaVersion());
    return checkVersionFit(dump.postgres?.keycloakVersion, server).note;
  }

  /** Creates the empty database that the dump is loaded into. Returns notes for the operator. */
  async #makeEmpty(id: string, head: string, inPlace: boolean): Promise<readonly string[]> {
    const names = this.#names(id);
    const source = findTraits(head);
    if (!inPlace) {
      await discardDatabases(this.#context, names, { previous: false });
      return createStaged(this.#context, names, source);
    }
    const closed = this.#options.gate?.isWanted === true;
    const { notes, replaced } = await emptyLive(this.#context, names, source, { closed });
    if (replaced) await this.#shutGate();
    return notes;
  }

  async #findSpaceAtServer(): Promise<DatabaseSpace> {
    const { dataDirectory, startedAt } = await readServer(this.#context);
    const freeBytes =
      dataDirectory === undefined
        ? undefined
        : await this.#options.programs.freeBytes(dataDirectory, { startedAt });
    return { place: this.#context.psql.location, here: false, freeBytes };
  }

  /** Returns the result of `ask`, or `otherwise` if the database's container is stopped. */
  async #unlessStopped<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      const isUnreachable = error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
      if (isUnreachable && (await this.#options.isStopped?.()) === true) return otherwise;
      throw error;
    }
  }

  /**
   * Returns `wanted` if the role has another password, or else undefined. It first runs a query to find out the role's
   * current password.
   */
  async #passwordToSet(wanted: Secret | undefined): Promise<Secret | undefined> {
    const { administrator, psql } = this.#context;
    await queryBeside(this.#context, 'SELECT 1;', { patience: PATIENCE });
    if (administrator !== undefined) return undefined;
    if (this.#options.asksNoPassword === true) return wanted;
    return psql.password?.reveal() === wanted?.reveal() ? undefined : wanted;
  }

  /** Locks the database that is live after a swap. Until then its comment keeps services out. */
  async #shutGate(): Promise<void> {
    const { gate } = this.#options;
    await gate?.shutAgain();
    if (gate?.isWanted === true) await reopen(this.#context, this.#context.database);
  }

  #names(id: string) {
    return swapNames(this.#context.database, id);
  }

  #targetOf(id: string, inPlace: boolean): string {
    return inPlace ? this.#context.database : this.#names(id).staged;
  }

  #ask(name: string) {
    return (sql: string) => this.#context.psql.query(name, sql, { seconds: COUNT_SECONDS });
  }

  #readFacts(name: string) {
    return readServiceFacts(this.#schema, this.#ask(name));
  }

  async #exists(): Promise<boolean> {
    const { database } = this.#context;
    return (await findDatabases(this.#context, [database])).has(database);
  }
}
