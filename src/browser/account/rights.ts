import { type Client, effectiveRoleIds, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** The client that the account pages log in as, and that owns their roles (facts §10). */
export const ACCOUNT_CLIENT = 'account';

/** What a user may do with their own account. */
export interface AccountRights {
  see: boolean;
  change: boolean;
  seeApplications: boolean;
  removeConsents: boolean;
}

/** The rights that go with roles of the client `account`, as Keycloak's account API asks for them (facts §10). */
export function rightsOf(roles: ReadonlySet<string>): AccountRights {
  const any = (...names: readonly string[]) => names.some((name) => roles.has(name));
  return {
    see: any('manage-account', 'view-profile'),
    change: any('manage-account'),
    seeApplications: any('manage-account', 'view-applications'),
    removeConsents: any('manage-account', 'manage-consent'),
  };
}

/** The rights that a user has by all of their roles. */
export function rightsOfUser(configuration: RealmConfiguration, client: Client, user: User): AccountRights {
  const names = new Set<string>();
  for (const id of effectiveRoleIds(configuration, user)) {
    const role = configuration.roles.get(id);
    if (role?.clientUuid === client.id) names.add(role.name);
  }
  return rightsOf(names);
}
