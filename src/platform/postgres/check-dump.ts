import type { DumpReport } from '../../backupset/index.ts';
import { checkMasterKey } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { PostgresContext } from '../../pgtools/index.ts';
import { checkSqliteDump } from '../../store/open.ts';
import type { SwapOptions } from '../contract.ts';

/** Whose database it is, and what opens its secrets. */
export interface DatabaseOwner {
  service: 'idkit' | 'keycloak';
  masterKey: Secret | undefined;
  masterKeyOld: Secret | undefined;
}

/**
 * The dump is one of Postgres and, as far as it tells, of this platform's service, its schema is known, and the master
 * key opens it.
 *
 * @throws IDKIT_VERSION, IDKIT_MASTER_KEY_MISSING, _INVALID, _WRONG, IDKIT_DAMAGED where no key belongs to it
 */
export function checkDumpFits(owner: DatabaseOwner, dump: DumpReport, { inPlace }: SwapOptions = {}): void {
  if (dump.kind !== 'postgres')
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is one of ${dump.kind}, and this platform runs on postgres`,
      {
        hints: ['restore it into a platform whose idkit.yaml names such a database'],
      },
    );
  if (dump.postgres?.unread === true) {
    // What it does not tell is asked of it once it is loaded beside the live one; in place that is gone by then.
    if (inPlace !== true) return;
    throw new IdkitError(
      'IDKIT_VERSION',
      'the dump has its rows as INSERTs, so its service, schema and master key are known only once it is loaded, and in place the live database would be gone by then',
      { hints: ['make room beside the live database and restore without --in-place'] },
    );
  }
  const kind = dump.postgres?.keycloakVersion === undefined ? 'idkit' : 'keycloak';
  if (kind !== owner.service)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is one of ${kind === 'idkit' ? 'idkit’s own service' : 'Keycloak'}, and this platform says service: ${owner.service}`,
      { hints: [`restore it into a platform whose idkit.yaml says service: ${kind}`] },
    );
  if (owner.service === 'idkit') checkProofs(owner, dump.schemaVersion ?? 0, dump.meta ?? new Map());
}

/** Schema and proofs of the master key as they stand in idkit's tables. @throws as `checkDumpFits` */
export function checkProofs(
  { masterKey, masterKeyOld }: DatabaseOwner,
  schemaVersion: number,
  meta: ReadonlyMap<string, string>,
): void {
  checkSqliteDump({ schemaVersion, meta }, checkMasterKey(masterKey), masterKeyOld);
}

/** The master key opens what idkit sealed in it; Keycloak seals nothing. @throws as `checkDumpFits` */
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
