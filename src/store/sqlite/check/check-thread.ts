import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { definitionsOf } from '../../../backupset/index.ts';
import { IdkitError, Secret } from '../../../core/index.ts';
import { discardDerived } from '../../migrations/loaded.ts';
import { openKeyring } from '../../sealing/keyring.ts';
import { checkMasterKeys } from '../../sealing/proofs.ts';
import { toFault } from '../faults.ts';
import { quickCheck } from '../file.ts';
import { checkKind, migrate, schemaVersion, summarize } from '../schema-state.ts';
import type { CheckRequest, FromCheck } from './check.ts';

const { file, masterKey, masterKeyOld } = workerData as CheckRequest;
let answer: FromCheck;
const database = new DatabaseSync(file, { timeout: 10_000 });
try {
  database.exec('PRAGMA cache_size = -16384');
  answer = { summary: check() };
} catch (error) {
  const fault = toFault(error, file);
  answer = { fault: fault.code === 'IDKIT_DATABASE_DAMAGED' ? { ...fault, code: 'IDKIT_DAMAGED' } : fault };
}
database.close();
parentPort!.postMessage(answer);

function check() {
  checkKind(database, file);
  quickCheck(database, file);
  const orphan = database.prepare('PRAGMA foreign_key_check').get();
  if (orphan !== undefined)
    throw damaged(`a row of ${orphan['table']} refers to a missing row of ${orphan['parent']}`);
  // The schema is checked before the first write, because a write would run the triggers of a malicious dump.
  checkSchema();
  const loaded = schemaVersion(database);
  migrate(database);
  checkSchema();
  const old = masterKeyOld === undefined ? undefined : new Secret(masterKeyOld);
  const keys = checkMasterKeys(database, openKeyring(new Secret(masterKey), old));
  if (keys === 'fresh') throw damaged('it has no master key');
  database.exec(`BEGIN IMMEDIATE; ${discardDerived(loaded, 'sqlite')} COMMIT`);
  return summarize(database);
}

/** Checks that the database has exactly the tables, indexes and triggers of its schema version. A dump must not add others. */
function checkSchema(): void {
  const expected = new Set(definitionsOf(schemaVersion(database)).map(({ sql }) => sql));
  const entries = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  const own = entries.filter(({ type, name, sql }) => !isKeyOfTable(type, name, sql));
  const foreign = own.find(({ sql }) => !expected.has(String(sql)));
  if (foreign !== undefined)
    throw damaged(
      `its schema contains an object that idkit does not create: ${JSON.stringify(Object.values(foreign)).slice(0, 80)}`,
    );
  if (own.length !== expected.size) throw damaged('its schema lacks a table, an index or a trigger');
}

/** Reports whether SQLite itself created the index for a key of the table. */
function isKeyOfTable(type: unknown, name: unknown, sql: unknown): boolean {
  return type === 'index' && sql === null && String(name).startsWith('sqlite_autoindex_');
}

function damaged(why: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the loaded database is damaged: ${why}`);
}
