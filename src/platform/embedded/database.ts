import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DumpReport } from '../../backupset/index.ts';
import { checkMasterKey, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import { makeDataDirectory, whileStopped } from '../../service/index.ts';
import { checkSqlite, checkSqliteDump, dumpSqlite, loadSqlite } from '../../store/open.ts';
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
} from '../contract.ts';
import { IdkitStore } from '../idkit-store.ts';
import { digestSqliteCredentials, identifySqlite } from './identify.ts';
import { inspectSqlite } from './inspect.ts';
import { checkRoom, findMoment, rebuildMoment } from './moment.ts';
import { discardFiles, stagedBytes, swapFile, swapFileBack, swapFiles } from './swap.ts';

/** The database of an embedded platform: a SQLite file. */
export class SqliteDatabase implements PlatformDatabase {
  readonly #settings: Settings;
  readonly #file: string;
  readonly #store: IdkitStore;
  readonly #archiveOf: Settings;

  /** @param archiveOf the platform whose archive is read for a moment */
  constructor(settings: Settings, archiveOf: Settings = settings) {
    if (settings.database.kind !== 'sqlite')
      throw new IdkitError('IDKIT_BUG', 'a Postgres database was opened as a SQLite file');
    const { file } = settings.database;
    this.#settings = settings;
    this.#archiveOf = archiveOf;
    this.#file = file;
    this.#store = new IdkitStore(settings, {
      location: file,
      exists: async () => existsSync(file),
      alone: (command, work) => whileStopped(file, command, work),
    });
  }

  info(): DatabaseInfo {
    return { database: 'sqlite', databaseLocation: this.#file };
  }

  async identify(): Promise<DatabaseIdentity> {
    return identifySqlite(this.#file);
  }

  async digestCredentials(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return digestSqliteCredentials(this.#file, ids);
  }

  async dump(
    write: (chunk: Uint8Array) => Promise<void>,
    options: { signal: AbortSignal; onProgress?: (bytes: number, total?: number) => void },
  ): Promise<DumpSummary> {
    return { kind: 'sqlite', ...(await dumpSqlite(this.#file, write, options)) };
  }

  async checkDump(dump: DumpReport): Promise<void> {
    const { service, masterKey, masterKeyOld } = this.#settings;
    const { kind, schemaVersion = 0, meta = new Map<string, string>() } = dump;
    if (kind !== 'sqlite')
      throw new IdkitError('IDKIT_VERSION', `the dump is from ${kind}, but this platform runs on sqlite`, {
        hints: ['restore it into a platform whose idkit.yaml sets a database of that kind'],
      });
    if (service !== 'idkit')
      throw new IdkitError(
        'IDKIT_VERSION',
        `the dump is from idkit's own service, but idkit.yaml says service: ${service}`,
        { hints: ['restore it into a platform whose idkit.yaml says service: idkit'] },
      );
    checkSqliteDump({ schemaVersion, meta }, checkMasterKey(masterKey), masterKeyOld);
  }

  async load(
    sql: AsyncIterable<Uint8Array>,
    { id, signal, onProgress }: LoadOptions,
  ): Promise<LoadedDatabase> {
    const files = swapFiles(this.#file, id);
    await makeDataDirectory(this.#file);
    await discardFiles(files, { previous: false });
    await loadSqlite(files.staged, sql, { signal, ...(onProgress === undefined ? {} : { onProgress }) });
    return { location: files.staged };
  }

  async findMoment(moment: Moment, masterKey: Secret | undefined): Promise<FoundMoment> {
    const found = await findMoment(this.#archiveOf, moment, masterKey);
    await makeDataDirectory(this.#file);
    checkRoom(this.#file, found);
    return found;
  }

  async loadMoment(
    found: FoundMoment,
    { id, masterKey, signal, onProgress }: LoadOptions,
  ): Promise<LoadedDatabase> {
    const files = swapFiles(this.#file, id);
    await makeDataDirectory(this.#file);
    await discardFiles(files, { previous: false });
    const progress = onProgress === undefined ? {} : { onProgress };
    await rebuildMoment(this.#archiveOf, found, files.staged, { masterKey, signal, ...progress });
    return { location: files.staged };
  }

  async checkLoaded(id: string, masterKey: Secret | undefined): Promise<StagedDatabase> {
    const { staged } = swapFiles(this.#file, id);
    const key = masterKey ?? checkMasterKey(this.#settings.masterKey);
    const { realms, schemaVersion } = await checkSqlite(staged, key, this.#settings.masterKeyOld);
    return { realms, schemaVersion, location: staged };
  }

  swap(id: string): Promise<void> {
    return whileStopped(this.#file, 'restore', () => swapFile(swapFiles(this.#file, id)));
  }

  async swapBack(id: string): Promise<void> {
    const files = swapFiles(this.#file, id);
    const { previous, noPrevious } = files;
    if (!existsSync(previous) && !existsSync(noPrevious) && !existsSync(`${previous}-wal`)) return;
    await whileStopped(this.#file, 'restore', () => swapFileBack(files));
  }

  stagedBytes(id: string): Promise<number> {
    return stagedBytes(swapFiles(this.#file, id));
  }

  discard(id: string, options: { previous: boolean }): Promise<void> {
    return discardFiles(swapFiles(this.#file, id), options);
  }

  async inspect(): Promise<DatabaseInspection> {
    return inspectSqlite(this.#file);
  }

  async findSpace(): Promise<DatabaseSpace> {
    return { place: dirname(this.#file), here: true };
  }

  async checkMasterKey(): Promise<void> {
    if (existsSync(this.#file)) await this.#store.readSnapshot();
  }

  // On SQLite, `baseUrl` already finds a running service, because it reads that service's record.
  async checkUnused(): Promise<void> {}

  async keepServicesOut(): Promise<{ release(): Promise<void> }> {
    return { release: async () => undefined };
  }

  readSnapshot(): ReturnType<IdkitStore['readSnapshot']> {
    return this.#store.readSnapshot();
  }

  readStatus(): ReturnType<IdkitStore['readStatus']> {
    return this.#store.readStatus();
  }

  recoverAdministrator(username: string): Promise<{ password: Secret }> {
    return this.#store.recoverAdministrator(username);
  }

  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }> {
    return this.#store.changeMasterKey(from, to);
  }
}
