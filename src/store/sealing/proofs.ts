import type { DatabaseSync } from 'node:sqlite';
import { IdkitError, type Random } from '../../core/index.ts';
import type { Keyring } from './keyring.ts';
import { seal, unseal } from './seal.ts';

/** Prefix of the names in `meta` whose rows contain a known value, encrypted with one of the keys in use. */
const PREFIX = 'masterKey.';
const KNOWN = 'idkit';

/**
 * `fresh`: The database has no key yet. `settled`: It uses only the current key. `rotating`: It may still contain
 * records of an older key.
 */
export type MasterKeyState = 'fresh' | 'settled' | 'rotating';

/** Returns the row of `meta` that proves the current key. */
export function proofRow(keyring: Keyring, random: Random): { name: string; value: string } {
  const name = `${PREFIX}${keyring.current.id}`;
  return { name, value: seal(KNOWN, `meta:${name}`, keyring, random).toString('base64') };
}

export function proofName(keyId: string): string {
  return `${PREFIX}${keyId}`;
}

/**
 * Checks that the available keys decrypt every record of the database.
 *
 * @throws IDKIT_MASTER_KEY_WRONG if a key in use is not available
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

/** Like `checkMasterKeys`, for rows of `meta` (name, value) from any source. */
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
  return new IdkitError('IDKIT_MASTER_KEY_WRONG', 'IDKIT_MASTER_KEY does not decrypt this database', {
    hints: ['use the .env that belongs to this database, or restore it with: idkit restore --from DIR'],
  });
}
