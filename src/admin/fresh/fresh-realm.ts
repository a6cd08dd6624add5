import type { Change } from '../../store/index.ts';
import type { AdminContext } from '../context.ts';
import { buildRealm } from '../import/build-realm.ts';
import { realmChanges } from '../import/import-realm.ts';
import { checkRealmName } from '../import/realm-settings.ts';

/** A realm with Keycloak's content and nothing of its own. */
export interface FreshRealmOptions {
  name: string;
  enabled?: boolean;
  displayName?: string;
}

/**
 * Everything of a fresh realm (facts §10), as changes that make it. What master gains with it is not among them.
 *
 * @throws RepresentationFault where the name cannot be one
 */
export async function freshRealm(context: AdminContext, options: FreshRealmOptions): Promise<Change[]> {
  const { name, enabled = true, displayName } = options;
  checkRealmName(name);
  const given = { realm: name, enabled, ...(displayName === undefined ? {} : { displayName }) };
  return realmChanges(await buildRealm(given, name, context));
}
