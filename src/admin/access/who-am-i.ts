import type { AdminContext, Caller } from '../call/context.ts';
import { AdminRefusal, unauthorized } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { findRightsByRealm, holdsMasterRole } from './rights.ts';

/** The client id of the administration console. */
const CONSOLE = 'security-admin-console';

/**
 * Describes the user of a realm's console, with the user's administrative roles in each realm. See
 * docs/keycloak/admin-api.md#whoami.
 *
 * @param query `realm` is the realm of the console. With `of`, the result contains only the roles in that realm.
 * @throws AdminRefusal 401 for a token of another realm, 403 for a token of another client
 */
export async function whoAmI(
  context: AdminContext,
  caller: Caller,
  query: { realm: string; of: string | undefined },
): Promise<Json> {
  const { clientId, realmName } = caller;
  if (realmName !== query.realm) throw unauthorized();
  if (clientId !== CONSOLE)
    throw new AdminRefusal('forbidden', {
      error: `Token issued for an application that is not the admin console: ${clientId}`,
    });
  const user = await context.store.findUser(caller.realmId, caller.userId);
  if (user === undefined) throw unauthorized();
  const name = [user.firstName, user.lastName].filter(Boolean).join(' ');
  return {
    userId: user.id,
    realm: realmName,
    displayName: name || user.username,
    locale: user.attributes['locale']?.[0] ?? 'en',
    // Keycloak has no such field. The console of idkit says for how long a deletion can be undone.
    trashDays: context.trashDays ?? 0,
    createRealm: await holdsMasterRole(context, caller, 'create-realm'),
    realm_access: await listRoles(context, caller, query.of),
  };
}

async function listRoles(context: AdminContext, caller: Caller, of: string | undefined): Promise<Json> {
  const byRealm: Record<string, string[]> = {};
  for (const [name, { roles }] of await findRightsByRealm(context, caller))
    if (of === undefined || name === of) byRealm[name] = [...roles].sort();
  return byRealm;
}
