import { IdkitError } from '../../core/index.ts';
import type { DatabaseHalf } from '../contract.ts';

/** What idkit does in a store of its own, where the database is Keycloak's, which alone knows what is in it. */
export const KEYCLOAK_STORE_WORK: Pick<
  DatabaseHalf,
  'readSnapshot' | 'listUnenforced' | 'recoverAdministrator' | 'changeMasterKey'
> = {
  readSnapshot: async () => {
    throw new IdkitError('IDKIT_UNREACHABLE', 'Keycloak does not answer, and only it renders its realms', {
      hints: ['start Keycloak'],
    });
  },
  // It enforces what it stores.
  listUnenforced: async () => [],
  recoverAdministrator: async () => {
    throw new IdkitError('IDKIT_USAGE', 'the service is Keycloak, whose administrators idkit cannot reset', {
      hints: [
        'stop Keycloak, and run its own: kc.sh bootstrap-admin user',
        'in containers, with the variables that compose.yaml names at its head: docker compose run --rm keycloak bootstrap-admin user',
      ],
    });
  },
  // It seals nothing with a master key.
  changeMasterKey: async () => ({ records: 0 }),
};
