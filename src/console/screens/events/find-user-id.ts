import { type AdminApi, path } from '../../api/admin-api.ts';
import type { User } from '../../api/representations.ts';

/** Returns the id of the user with this username, in the first of the realms that has one. */
export async function findUserId(
  api: AdminApi,
  realms: readonly string[],
  username: string,
): Promise<string | undefined> {
  for (const realm of realms) {
    const [user] = await api.get<readonly User[]>(path`/${realm}/users`, {
      username,
      exact: true,
      briefRepresentation: true,
      first: 0,
      max: 1,
    });
    if (user !== undefined) return user.id;
  }
  return undefined;
}
