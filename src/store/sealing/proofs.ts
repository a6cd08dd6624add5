import type { DatabaseSync } from 'node:sqlite';
import { IdkitError, type Random } from '../../core/index.ts';
import type { Keyring } from './keyring.ts';
import { seal, unseal } from './seal.ts';

/** A known value sealed with each key in use; rows of `meta`. */
const PREFIX = 'masterKey.';
const KNOWN = 'idkit';

/** `fresh`: no key yet. `settled`: the current key alone. `rotating`: records of an older key may be left. */
export type MasterKeyState = 'fresh' | 'settled' | 'rotating';

/** Name and value of the row that proves the current key. */
export function proofRow(keyring: Keyring, random: Random): { name: string; value: string } {
  const name = `${PREFIX}${keyring.current.id}`;
  return { name, value: seal(KNOWN, `meta:${name}`, keyring, random).toString('base64') };
}

export function proofName(keyId: string): string {
  return `${PREFIX}${keyId}`;
}

/**
 * Whether the keys at hand open every record of the database.
 *
 * @throws IDKIT_MASTER_KEY_WRONG where one in use is not at hand
 */
export function checkMasterKeys(database: DatabaseSync, keyring: Keyring): MasterKeyState {
  const tables = database.prepare(`SELECT count(*) AS n FROM sqlite_schema WHERE name = 'meta'`).get();
  if (Number(tables?.['n']) === 0) return 'fresh';
  const rows = database.prepare(`SELECT name, value FROM meta WHERE name LIKE '${PREFIX}%'`).all();
  return checkProofs(
    rows.map((row) => [String(row['name']), String(row['value'])]),
    keyring,
  );
}

/** As `checkMasterKeys`, of the rows of `meta` (name, value) wherever they were read. */
export function checkProofs(meta: Iterable<readonly [string, string]>, keyring: Keyring): MasterKeyState {
  const names: string[] = [];
  for (const [name, value] of meta) {
    if (!name.startsWith(PREFIX)) continue;
    if (!keyring.all.has(name.slice(PREFIX.length))) throw wrong();
    if (unseal(Buffer.from(value, 'base64'), `meta:${name}`, keyring) !== KNOWN) throw wrong();
    names.push(name);
  }
  if (names.length === 0) return 'fresh';
  return names.length === 1 && names.includes(proofName(keyring.current.id)) ? 'settled' : 'rotating';
}

function wrong(): IdkitError {
  return new IdkitError('IDKIT_MASTER_KEY_WRONG', 'IDKIT_MASTER_KEY does not open this database', {
    hints: ['use the .env that belongs to this database, or restore one with: idkit restore --from DIR'],
  });
}
