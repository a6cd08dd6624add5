import { Worker } from 'node:worker_threads';
import { IdkitError, type Secret, threadModule } from '../../../core/index.ts';
import { openKeyring } from '../../sealing/keyring.ts';
import { checkProofs } from '../../sealing/proofs.ts';
import { type Fault, fromFault } from '../faults.ts';
import { hasDatabase } from '../file.ts';
import type { DatabaseSummary } from '../schema-state.ts';
import { checkVersion } from '../schema-state.ts';

export interface CheckRequest {
  file: string;
  masterKey: string;
  masterKeyOld: string | undefined;
}

export type FromCheck = { summary: DatabaseSummary } | { fault: Fault };

/**
 * Checks a staged database completely in its own thread: pages, foreign keys, schema and master key. Migrates an older
 * schema. Discards the kept counts and sets the usernames of members, which follow from other rows. Returns a summary of
 * the contents.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG, IDKIT_NO_SPACE
 */
export async function checkSqlite(
  file: string,
  masterKey: Secret,
  masterKeyOld?: Secret,
): Promise<DatabaseSummary> {
  if (!hasDatabase(file)) throw new IdkitError('IDKIT_NOT_FOUND', `the database ${file} does not exist`);
  const workerData: CheckRequest = {
    file,
    masterKey: masterKey.reveal(),
    masterKeyOld: masterKeyOld?.reveal(),
  };
  const worker = new Worker(threadModule(import.meta.url, './check-thread'), { workerData });
  const answer = await new Promise<FromCheck>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new IdkitError('IDKIT_FAILED', 'the check thread ended unexpectedly')));
  });
  if ('fault' in answer) throw fromFault(answer.fault);
  return answer.summary;
}

/** The facts that the text of a dump states about its database. */
export interface DumpFacts {
  /** `PRAGMA user_version`. */
  schemaVersion: number;
  /** The values of the table `meta` by name. */
  meta: ReadonlyMap<string, string>;
}

/**
 * Checks the schema version and the master key of a dump as `checkSqlite` does, but without loading the dump. Accepts
 * an older schema, because `checkSqlite` migrates it.
 *
 * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG, IDKIT_MASTER_KEY_INVALID, IDKIT_DAMAGED if the dump has no master key
 */
export function checkSqliteDump(dump: DumpFacts, masterKey: Secret, masterKeyOld?: Secret): void {
  checkVersion(dump.schemaVersion, 'the dump');
  const keyring = openKeyring(masterKey, masterKeyOld);
  if (check(dump.meta, keyring) === 'fresh') throw damaged('it has no master key');
}

function check(meta: DumpFacts['meta'], keyring: Parameters<typeof checkProofs>[1]) {
  try {
    return checkProofs(meta, keyring);
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_DATABASE_DAMAGED') throw damaged(error.message);
    throw error;
  }
}

function damaged(why: string): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the dump is damaged: ${why}`);
}
