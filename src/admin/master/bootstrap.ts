import type { Secret } from '../../core/index.ts';
import type { AdminContext } from '../call/context.ts';
import { MASTER } from '../defaults/built-in-clients.ts';
import { createRealm, RealmConflict } from '../import/import-realm.ts';

/** The first administrator and the client of `idkit smoke`. */
export interface BootstrapOptions {
  username: string;
  password: Secret;
  /** The `client_id` of the machine-to-machine client of `idkit smoke`. */
  smokeClientId?: string;
  smokeClientSecret: Secret;
}

/**
 * Creates the master realm with its administrator and the client of `idkit smoke`. Does nothing if the realm exists.
 */
export async function bootstrapMaster(
  context: AdminContext,
  { username, password, smokeClientId = 'idkit-smoke', smokeClientSecret }: BootstrapOptions,
): Promise<{ outcome: 'made' | 'exists' }> {
  if (await context.store.hasRealm(MASTER)) return { outcome: 'exists' };
  try {
    await createRealm(context, {
      realm: MASTER,
      enabled: true,
      displayName: 'idkit',
      displayNameHtml: '<div class="kc-logo-text"><span>idkit</span></div>',
      clients: [
        {
          clientId: smokeClientId,
          name: 'idkit smoke',
          standardFlowEnabled: false,
          directAccessGrantsEnabled: false,
          serviceAccountsEnabled: true,
          secret: smokeClientSecret.reveal(),
        },
      ],
      users: [
        {
          username,
          enabled: true,
          realmRoles: [`default-roles-${MASTER}`, 'admin'],
          credentials: [{ type: 'password', value: password.reveal() }],
        },
      ],
    });
    return { outcome: 'made' };
  } catch (error) {
    if (error instanceof RealmConflict && error.conflict.on.startsWith('realm.'))
      return { outcome: 'exists' };
    throw error;
  }
}
