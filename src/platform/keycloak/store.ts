import { IdkitError } from '../../core/index.ts';
import type { StoreAccess, StoreStatus } from '../contract.ts';

/** Keycloak's own data, which only Keycloak can read. */
export class KeycloakStore implements StoreAccess {
  async readSnapshot(): Promise<never> {
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      'Keycloak does not respond, and only Keycloak can export its realms',
      { hints: ['start Keycloak'] },
    );
  }

  /** Keycloak enforces everything that it stores, and migrates its database when it starts. */
  async readStatus(): Promise<StoreStatus> {
    return { unenforced: [], migrations: [] };
  }

  async recoverAdministrator(): Promise<never> {
    throw new IdkitError('IDKIT_USAGE', 'the service is Keycloak, whose administrators idkit cannot reset', {
      hints: [
        'stop Keycloak, and run its own command: kc.sh bootstrap-admin user',
        'in containers, with the variables that compose.yaml lists at its top: docker compose run --rm keycloak bootstrap-admin user',
      ],
    });
  }

  /** Keycloak encrypts nothing with a master key. */
  async changeMasterKey(): Promise<{ records: number }> {
    return { records: 0 };
  }
}
