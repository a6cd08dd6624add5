import type { DatabaseSync } from 'node:sqlite';
import type { Random } from '../../core/index.ts';
import type { Keyring } from './keyring.ts';
import { proofName, proofRow } from './proofs.ts';
import { seal, sealedWith, unseal } from './seal.ts';

const TABLES = ['realm', 'client', 'component', 'credential'] as const;
/** Records of one transaction. */
const BATCH = 200;

/**
 * Seals every record with the keyring's current key. Killed at any point it is simply run again: until the end
 * both keys are proved by `meta`, so that each is accepted, and records already done are left alone.
 */
export function resealAll(database: DatabaseSync, keyring: Keyring, random: Random): { records: number } {
  const proof = proofRow(keyring, random);
  database.prepare('INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)').run(proof.name, proof.value);
  let records = 0;
  for (const table of TABLES) records += resealTable(database, table, keyring, random);
  database.prepare(`DELETE FROM meta WHERE name LIKE ? AND name <> ?`).run(`${proofName('')}%`, proof.name);
  return { records };
}

function resealTable(database: DatabaseSync, table: string, keyring: Keyring, random: Random): number {
  const page = database.prepare(
    `SELECT id, sealed FROM ${table} WHERE sealed IS NOT NULL AND id > ? ORDER BY id LIMIT ${BATCH}`,
  );
  const update = database.prepare(`UPDATE ${table} SET sealed = ? WHERE id = ?`);
  let records = 0;
  let last = '';
  for (;;) {
    const rows = page.all(last) as { id: string; sealed: Uint8Array }[];
    if (rows.length === 0) return records;
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { id, sealed } of rows) {
        last = id;
        if (sealedWith(sealed) === keyring.current.id) continue;
        const identity = `${table}:${id}`;
        update.run(seal(unseal(sealed, identity, keyring), identity, keyring, random), id);
        records++;
      }
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}
