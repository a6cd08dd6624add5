import { type Client, effectiveRoleIds, expandRoleIds } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { AdminContext, Caller } from '../call/context.ts';

/** The roles that a caller holds and may use. */
export interface HeldRoles {
  /** The names of the roles by the id of the client that owns them. Realm roles have the key ''. */
  byOwner: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Finds the roles that the caller holds and that the token may contain: roles in the scope of the token's client, of
 * that client's default scopes, or of the granted optional scopes. Returns undefined if the caller does not exist
 * anymore or is disabled.
 */
export async function findHeldRoles(context: AdminContext, caller: Caller): Promise<HeldRoles | undefined> {
  const [realm, user, client] = await Promise.all([
    context.store.findRealmById(caller.realmId),
    context.store.findUser(caller.realmId, caller.userId),
    context.store.findClientByUuid(caller.realmId, caller.clientUuid),
  ]);
  if (realm === undefined || user === undefined || client === undefined || !user.enabled) return undefined;
  const ids = effectiveRoleIds(realm, user);
  if (client.fullScopeAllowed) return grouped(realm, ids);
  const granted = client.optionalClientScopeIds.filter((id) =>
    caller.scopes.has(realm.clientScopes.get(id)?.name ?? ''),
  );
  return narrowed(realm, ids, client, granted);
}

/** The result for all roles of a caller, which callers with the same roles and groups share. */
const ofAll = new WeakMap<ReadonlySet<string>, HeldRoles>();

function grouped(realm: RealmConfiguration, ids: ReadonlySet<string>): HeldRoles {
  let held = ofAll.get(ids);
  if (held === undefined) {
    held = { byOwner: groupByOwner(realm, ids) };
    ofAll.set(ids, held);
  }
  return held;
}

/** The results for the roles that a client may use, by the granted optional scopes. */
const ofClients = new WeakMap<ReadonlySet<string>, WeakMap<Client, Map<string, HeldRoles>>>();

function narrowed(
  realm: RealmConfiguration,
  ids: ReadonlySet<string>,
  client: Client,
  granted: readonly string[],
): HeldRoles {
  let clients = ofClients.get(ids);
  if (clients === undefined) {
    clients = new WeakMap();
    ofClients.set(ids, clients);
  }
  let byScopes = clients.get(client);
  if (byScopes === undefined) {
    byScopes = new Map();
    clients.set(client, byScopes);
  }
  const key = granted.join(' ');
  let held = byScopes.get(key);
  if (held === undefined) {
    const scopes = [...client.defaultClientScopeIds, ...granted].flatMap(
      (id) => realm.clientScopes.get(id)?.scopeRoleIds ?? [],
    );
    const allowed = expandRoleIds(realm, [...client.scopeRoleIds, ...scopes]);
    const carried = ids
      .values()
      .filter((id) => allowed.has(id) || realm.roles.get(id)?.clientUuid === client.id);
    held = { byOwner: groupByOwner(realm, carried) };
    byScopes.set(key, held);
  }
  return held;
}

function groupByOwner(
  { roles }: RealmConfiguration,
  ids: Iterable<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const byOwner = new Map<string, Set<string>>();
  for (const id of ids) {
    const role = roles.get(id);
    if (role === undefined) continue;
    const owner = role.clientUuid ?? '';
    const names = byOwner.get(owner);
    if (names === undefined) byOwner.set(owner, new Set([role.name]));
    else names.add(role.name);
  }
  return byOwner;
}
