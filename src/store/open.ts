// The door to the drivers: opens a store, and dumps, loads and checks whole database files.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import {
  type Clock,
  IdkitError,
  type Random,
  type Secret,
  systemClock,
  systemRandom,
} from '../core/index.ts';
import type { PostgresLocation } from '../postgres/index.ts';
import type { Store } from './contract/index.ts';
import { openKeyring } from './sealing/keyring.ts';
import { checkMasterKeys } from './sealing/proofs.ts';
import type { LogKeeper } from './sqlite/capture/log-keeper.ts';
import { mapFault } from './sqlite/faults.ts';
import { inspectFile } from './sqlite/file.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { resealAll } from './sqlite/reseal.ts';
import { prepareForWriting } from './sqlite/schema-state.ts';

export type { PostgresLocation } from '../postgres/index.ts';
export { SCHEMA_VERSION } from './migrations/index.ts';
export { discardDerived, postgresSchema } from './migrations/loaded.ts';
export type { LogKeeper } from './sqlite/capture/log-keeper.ts';
export { fileIdentity, LogTail, type TailCommit } from './sqlite/capture/log-tail.ts';
export { checkSqlite, checkSqliteDump, type DumpFacts } from './sqlite/check/check.ts';
export { type DumpOptions, dumpSqlite, type SqliteDump } from './sqlite/dump/dump.ts';
export { type LoadOptions, loadSqlite } from './sqlite/load/load.ts';
export { Replay } from './sqlite/replay/replay.ts';

/** Options of a store: a SQLite file or a Postgres database. */
export interface StoreOptions {
  /** Absolute path of the SQLite file. */
  file?: string;
  /** The Postgres database to open instead of a file. */
  postgres?: PostgresLocation;
  masterKey: Secret;
  /**
   * The previous key, while `master-key rotate` is unfinished. The store accepts both keys and finishes the rotation
   * when it opens for writing.
   */
  masterKeyOld?: Secret | undefined;
  /** Replaces the machine's clock and the clock of the Postgres server. */
  clock?: Clock;
  /** The clock of this machine. On Postgres, a store for writing corrects it to the server's clock. */
  machineClock?: Clock;
  random?: Random;
  /** `read` never creates, migrates or writes. Default: `write`. */
  mode?: 'write' | 'read';
  /** Creates the file if it does not exist. Default: true for `write`. A Postgres database is never created. */
  create?: boolean;
  /** Ships the log of a SQLite file that is open for writing. */
  keeper?: LogKeeper | undefined;
}

/**
 * Opens the store. All checks happen before anything on the disk changes.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_VERSION (newer schema, other program), IDKIT_DATABASE_DAMAGED,
 * IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_MASTER_KEY_WRONG, IDKIT_MASTER_KEY_INVALID, IDKIT_NO_SPACE; on Postgres also
 * IDKIT_UNREACHABLE, IDKIT_CREDENTIALS, IDKIT_SETTING
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { file, postgres, masterKey, masterKeyOld } = options;
  const common = {
    masterKey,
    masterKeyOld,
    random: options.random ?? systemRandom,
    mode: options.mode ?? 'write',
  };
  if (postgres !== undefined) {
    const { openPostgres } = await import('./postgres/open-postgres.ts');
    const { clock, machineClock = systemClock } = options;
    return openPostgres({ ...common, clock, machineClock, location: postgres });
  }
  if (file === undefined) throw new IdkitError('IDKIT_BUG', 'a store needs a file or a Postgres location');
  const clock = options.clock ?? options.machineClock ?? systemClock;
  return openSqlite({ ...common, clock, file, create: options.create ?? true, keeper: options.keeper });
}

/**
 * Encrypts every secret with the key `to`, in small transactions. To finish an interrupted rotation, call it again with
 * the same keys. Until the rotation has finished, opening a store requires both keys. The caller must hold the
 * database's lock.
 *
 * @param database a SQLite file or a Postgres database
 * @returns the number of records that this run encrypted
 * @throws IDKIT_NOT_FOUND, IDKIT_MASTER_KEY_WRONG, IDKIT_DATABASE_DAMAGED, IDKIT_VERSION; on Postgres also as
 * `openStore`
 */
export async function rotateMasterKey(
  database: string | PostgresLocation,
  from: Secret,
  to: Secret,
  random: Random = systemRandom,
): Promise<{ records: number }> {
  if (typeof database === 'string') return rotateInFile(database, from, to, random);
  const { rotateMasterKeyIn } = await import('./postgres/open-postgres.ts');
  return rotateMasterKeyIn(database, openKeyring(to, from), random);
}

async function rotateInFile(
  file: string,
  from: Secret,
  to: Secret,
  random: Random,
): Promise<{ records: number }> {
  if (!existsSync(file)) throw new IdkitError('IDKIT_NOT_FOUND', `the database ${file} does not exist`);
  const keyring = openKeyring(to, from);
  inspectFile(file, keyring);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 5000 });
    prepareForWriting(database);
    checkMasterKeys(database, keyring);
    const resealed = resealAll(database, keyring, random);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return resealed;
  } catch (error) {
    throw mapFault(error, file);
  } finally {
    if (database?.isOpen) database.close();
  }
}
