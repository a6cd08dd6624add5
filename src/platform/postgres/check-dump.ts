import type { DumpReport } from '../../backupset/index.ts';
import { checkMasterKey } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { PostgresContext } from '../../pgtools/index.ts';
import { checkSqliteDump } from '../../store/open.ts';
import type { SwapOptions } from '../contract.ts';

/** The service that owns a database, and the keys of its secrets. */
export interface DatabaseOwner {
  service: 'idkit' | 'keycloak';
  masterKey: Secret | undefined;
  masterKeyOld: Secret | undefined;
}

/**
 * Checks that a dump is from Postgres and from this platform's service, that its schema is known, and that the master
 * key decrypts it.
 *
 * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG; IDKIT_DAMAGED if no key can decrypt it
 */
export function checkDumpFits(owner: DatabaseOwner, dump: DumpReport, { inPlace }: SwapOptions = {}): void {
  if (dump.kind !== 'postgres')
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is from ${dump.kind}, but this platform runs on postgres`,
      { hints: ['restore it into a platform whose idkit.yaml sets a database of that kind'] },
    );
  if (dump.postgres?.unread === true) {
    // Normally the loaded database is checked before the swap. A restore in place would already have lost the live
    // database by then.
    if (inPlace !== true) return;
    throw new IdkitError(
      'IDKIT_VERSION',
      'the dump contains INSERT statements, so its service, schema and master key can be checked only after the load, when --in-place has already emptied the live database',
      { hints: ['free up space for a second database, and restore without --in-place'] },
    );
  }
  const kind = dump.postgres?.keycloakVersion === undefined ? 'idkit' : 'keycloak';
  if (kind !== owner.service)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is from ${kind === 'idkit' ? 'idkit’s own service' : 'Keycloak'}, but idkit.yaml says service: ${owner.service}`,
      { hints: [`restore it into a platform whose idkit.yaml says service: ${kind}`] },
    );
  if (owner.service === 'idkit') checkProofs(owner, dump.schemaVersion ?? 0, dump.meta ?? new Map());
}

/**
 * Checks that the master key decrypts the secrets in idkit's loaded tables. Keycloak encrypts nothing.
 *
 * @throws the errors of `checkDumpFits`
 */
export async function checkSeals(
  { psql }: PostgresContext,
  name: string,
  owner: DatabaseOwner,
  schemaVersion: number,
): Promise<void> {
  if (owner.service !== 'idkit') return;
  const rows = await psql.query(name, `SELECT json_build_object('name', name, 'value', value) FROM meta;`);
  checkProofs(owner, schemaVersion, new Map(rows.map((row) => [String(row['name']), String(row['value'])])));
}

/**
 * Checks the schema version, and the master key against the proofs that the dump contains.
 *
 * @throws the errors of `checkDumpFits`
 */
function checkProofs(
  { masterKey, masterKeyOld }: DatabaseOwner,
  schemaVersion: number,
  meta: ReadonlyMap<string, string>,
): void {
  checkSqliteDump({ schemaVersion, meta }, checkMasterKey(masterKey), masterKeyOld);
}
