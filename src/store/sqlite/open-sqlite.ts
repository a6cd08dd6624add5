import { DatabaseSync } from 'node:sqlite';
import { type Clock, IdkitError, type Random, type Secret } from '../../core/index.ts';
import { openKeyring } from '../sealing/keyring.ts';
import { proofRow } from '../sealing/proofs.ts';
import type { LogKeeper } from './capture/log-keeper.ts';
import { mapFault } from './faults.ts';
import {
  checkWritable,
  createFile,
  hasDatabase,
  hasLog,
  inspectFile,
  readLocation,
  tidyLog,
} from './file.ts';
import { Reader } from './reader/reader.ts';
import { ReaderProcesses } from './reader/reader-processes.ts';
import { resealAll } from './reseal.ts';
import { prepareForWriting } from './schema-state.ts';
import { SqliteStore } from './sqlite-store.ts';
import { Writer } from './writer/writer.ts';

/** See `openStore`. */
export interface SqliteOptions {
  file: string;
  masterKey: Secret;
  masterKeyOld?: Secret | undefined;
  clock: Clock;
  random: Random;
  mode: 'write' | 'read';
  create: boolean;
  keeper?: LogKeeper | undefined;
}

/**
 * Opens a store on a SQLite file. For writing, it creates or migrates the file, checks the master key, finishes an
 * interrupted rotation and starts the threads.
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const { file, clock, random } = options;
  const keyring = openKeyring(options.masterKey, options.masterKeyOld);
  const exists = hasDatabase(file);
  if (!exists && (options.mode === 'read' || !options.create))
    throw new IdkitError('IDKIT_NOT_FOUND', `the database ${file} does not exist`);
  const keys = exists ? inspectFile(file, keyring) : 'fresh';
  const sealing = { keyring, random };
  if (options.mode === 'read') {
    const logged = hasLog(file);
    const location = readLocation(file);
    const database = openReader(location, file);
    const closed = () => {
      if (!logged) tidyLog(file);
    };
    const [reader, administration] = [new Reader(location, file), new Reader(location, file)];
    return new SqliteStore({
      file,
      database,
      reader,
      administration,
      writer: undefined,
      sealing,
      clock,
      closed,
    });
  }

  if (exists) checkWritable(file);
  else await createFile(file);
  if (keys === 'rotating') {
    const database = new DatabaseSync(file, { timeout: 5000 });
    try {
      prepareForWriting(database);
      resealAll(database, keyring, random);
    } catch (error) {
      throw mapFault(error, file);
    } finally {
      database.close();
    }
  }
  const writer = await Writer.open(file, options.keeper);
  try {
    if (keys === 'fresh') await writer.call('run', { query: 'meta.put', values: proofRow(keyring, random) });
    const database = openReader(file, file);
    const store = new SqliteStore({
      file,
      database,
      reader: new Reader(file, file),
      administration: new ReaderProcesses(file, file),
      writer,
      sealing,
      clock,
      closed: () => {},
    });
    await store.readFinishedMigrations();
    return store;
  } catch (error) {
    await writer.close();
    throw error;
  }
}

function openReader(location: string, file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(location, { readOnly: true, timeout: 5000 });
    database.exec('PRAGMA cache_size = -4000');
    return database;
  } catch (error) {
    throw mapFault(error, file);
  }
}
