import type { DatabaseSync } from 'node:sqlite';
import type { Random } from '../../core/index.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { beginReseal, endReseal, type ResealedPage, resealPage, SEALED_TABLES } from '../sealing/reseal.ts';
import { drive } from '../verbs/steps.ts';
import { Statements } from './statements.ts';

/**
 * Encrypts every record with the keyring's current key. An interrupted call can be repeated: it
 * skips the records that are finished. Until all records are finished, `meta` contains proofs of both keys, so that both
 * are accepted.
 */
export function resealAll(database: DatabaseSync, keyring: Keyring, random: Random): { records: number } {
  const sql = new Statements(database);
  drive(sql, beginReseal(keyring, random));
  let records = 0;
  for (const table of SEALED_TABLES) {
    let last: string | undefined = '';
    while (last !== undefined) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const page: ResealedPage = drive(sql, resealPage(table, last, keyring, random));
        database.exec('COMMIT');
        records += page.records;
        last = page.last;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    }
  }
  drive(sql, endReseal(keyring));
  return { records };
}
