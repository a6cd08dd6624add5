import { type Client, effectiveRoleIds, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/**
 * The client that users log in to for the account pages. Its roles grant access to them
 * (docs/keycloak/clients.md#built-in-clients).
 */
export const ACCOUNT_CLIENT = 'account';

/** What a user may do with their own account. */
export interface AccountRights {
  see: boolean;
  change: boolean;
  seeApplications: boolean;
  removeConsents: boolean;
}

/**
 * Returns the rights that roles of the client `account` grant, according to the rules of Keycloak's account API
 * (docs/keycloak/pages.md#account).
 */
export function rightsOf(roles: ReadonlySet<string>): AccountRights {
  const any = (...names: readonly string[]) => names.some((name) => roles.has(name));
  return {
    see: any('manage-account', 'view-profile'),
    change: any('manage-account'),
    seeApplications: any('manage-account', 'view-applications'),
    removeConsents: any('manage-account', 'manage-consent'),
  };
}

/** Returns the rights that a user has through all of their roles. */
export function rightsOfUser(configuration: RealmConfiguration, client: Client, user: User): AccountRights {
  const names = new Set<string>();
  for (const id of effectiveRoleIds(configuration, user)) {
    const role = configuration.roles.get(id);
    if (role?.clientUuid === client.id) names.add(role.name);
  }
  return rightsOf(names);
}
