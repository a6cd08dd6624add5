import { keycloakSchemaNumber } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';

/**
 * Compares the Keycloak version of a dump with that of the server. Keycloak can use a dump of its own version, and
 * migrates a dump of an older one.
 *
 * @param dumped the version that last migrated the dump's schema (`migration_model`)
 * @param server the version that last started on the live database; undefined if there is none
 * @returns a note for the operator; absent if the versions are the same or one of them is unknown
 * @throws IDKIT_VERSION if the server is older than the dump
 */
export function checkVersionFit(dumped: string | undefined, server: string | undefined): { note?: string } {
  if (dumped === undefined || server === undefined || server === dumped) return {};
  const difference = keycloakSchemaNumber(server) - keycloakSchemaNumber(dumped);
  if (difference < 0)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is from Keycloak ${dumped}, but the server is Keycloak ${server}, which is older and cannot read it`,
      { hints: [`install Keycloak ${dumped} or newer`] },
    );
  return difference === 0
    ? {}
    : { note: `the dump is from Keycloak ${dumped}; Keycloak ${server} migrates it when it starts` };
}
