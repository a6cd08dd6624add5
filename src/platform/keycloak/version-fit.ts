import { keycloakSchemaNumber, renderKeycloakVersion } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DatabaseHalf } from '../contract.ts';

/**
 * Holds the version of a dump against that of the server before anything is loaded. The database that is replaced
 * knows the server's: the last one that started on it. Where there is none yet, the start tells.
 *
 * @param readSchemaVersion of the live database, as `keycloakSchemaNumber` counts; 0 where no service has made its tables
 */
export function guardVersion(database: DatabaseHalf, readSchemaVersion: () => Promise<number>): DatabaseHalf {
  let note: string | undefined;
  return {
    ...database,
    async checkDump(dump, options) {
      await database.checkDump(dump, options);
      if (options?.asks === false) return;
      const server = renderKeycloakVersion(await readSchemaVersion());
      note = checkVersionFit(dump.postgres?.keycloakVersion, server).note;
    },
    async loadDatabase(sql, options) {
      const loaded = await database.loadDatabase(sql, options);
      return note === undefined ? loaded : { ...loaded, notes: [...(loaded.notes ?? []), note] };
    },
  };
}

/** What came of holding a dump's version against the server's. */
interface VersionFit {
  /** For the operator; absent where the versions are the same or not both known. */
  note?: string;
}

/**
 * A dump of Keycloak starts under the version that wrote it, and under a newer one, which migrates it (facts §14).
 *
 * @param dumped the version that last migrated the dump's schema (`migration_model`)
 * @param server the version that serves, or last served, the database that is replaced
 * @throws IDKIT_VERSION where the server is older than the dump
 */
export function checkVersionFit(dumped: string | undefined, server: string | undefined): VersionFit {
  if (dumped === undefined || server === undefined || server === dumped) return {};
  const difference = keycloakSchemaNumber(server) - keycloakSchemaNumber(dumped);
  if (difference < 0)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is one of Keycloak ${dumped}, and the server is Keycloak ${server}, which is older and cannot read it`,
      { hints: [`install Keycloak ${dumped} or newer`] },
    );
  return difference === 0
    ? {}
    : { note: `the dump is one of Keycloak ${dumped}; Keycloak ${server} migrates it at its start` };
}
