import { IdkitError, type Secret } from '../../core/index.ts';
import { openKeyring } from '../sealing/keyring.ts';
import { checkProofs } from '../sealing/proofs.ts';
import { checkVersion } from './prepare-file.ts';

/** What a dump tells of itself before it is loaded. */
export interface DumpFacts {
  /** `PRAGMA user_version`. */
  schemaVersion: number;
  /** Its table `meta`, value by name. */
  meta: ReadonlyMap<string, string>;
}

/**
 * What `checkSqlite` would find of schema and master key once the dump is loaded, without loading it. An older
 * schema passes: it is migrated.
 *
 * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG, IDKIT_MASTER_KEY_INVALID, IDKIT_DAMAGED where no key belongs to it
 */
export function checkSqliteDump(dump: DumpFacts, masterKey: Secret, masterKeyOld?: Secret): void {
  checkVersion(dump.schemaVersion, 'the dump');
  const keyring = openKeyring(masterKey, masterKeyOld);
  if (check(dump.meta, keyring) === 'fresh') throw damaged('no master key belongs to it');
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
