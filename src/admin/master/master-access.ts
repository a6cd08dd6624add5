import { inTurn } from '../../core/index.ts';
import { type Realm, type Role, recordKey } from '../../model/index.ts';
import type { Change, RealmConfiguration } from '../../store/index.ts';
import type { AdminContext } from '../call/context.ts';
import { buildClient } from '../client/build-client.ts';
import {
  MASTER,
  managementClient,
  managementClientId,
  managementRoles,
} from '../defaults/built-in-clients.ts';
import { Names } from '../representation/names.ts';
import { buildRoles } from '../role/build-roles.ts';

/**
 * Returns the changes that give administrators of master access to another realm: a client of master with the
 * administrative roles of that realm. The role `admin` of master then includes these roles. See
 * docs/keycloak/admin-api.md#roles.
 *
 * @param creatorId a user of master who created the realm without the role `admin`, and gets the administrative roles
 */
export async function grantMasterAccess(
  master: RealmConfiguration,
  realm: Pick<Realm, 'name'>,
  context: AdminContext,
  creatorId?: string,
): Promise<Change[]> {
  const clientId = managementClientId(realm.name, MASTER);
  // The client and its roles refer to no other records of master but client scopes.
  const names = Names.of(
    { roles: new Map(), clientScopes: master.clientScopes, groups: new Map() },
    [],
    () => '',
  );
  const place = { context, realmId: master.realm.id, names, path: '$' };
  const client = buildClient(managementClient(clientId, `${realm.name} Realm`), place);
  names.clients.set(clientId, client.id);
  const roles = await buildRoles(
    { client: { [clientId]: managementRoles(clientId) } },
    master.realm.id,
    names,
    context,
  );
  const admin = findAdminRole(master);
  return [
    { do: 'create', client },
    ...roles.map((role): Change => ({ do: 'create', role })),
    ...(creatorId === undefined
      ? []
      : [{ do: 'assign' as const, userId: creatorId, roleIds: roles.map(({ id }) => id) }]),
    ...(admin === undefined
      ? []
      : [
          {
            do: 'put' as const,
            role: { ...admin, compositeIds: [...admin.compositeIds, ...roles.map(({ id }) => id)] },
          },
        ]),
  ];
}

/** The id of the role `admin` that was found last. The object of a realm is the same while only its roles change. */
const adminRoleIds = new WeakMap<Realm, string>();

/** Returns the role of master that includes every administrative role. */
export function findAdminRole(master: RealmConfiguration): Role | undefined {
  const isAdmin = (role: Role | undefined) => role?.name === 'admin' && role.clientUuid === undefined;
  const known = master.roles.get(adminRoleIds.get(master.realm) ?? '');
  if (isAdmin(known)) return known;
  const found = master.roles.values().find(isAdmin);
  if (found !== undefined) adminRoleIds.set(master.realm, found.id);
  return found;
}

/**
 * Runs `work` while no other call changes the role `admin` of master. Adding to this role rewrites the whole role, so a
 * parallel change would be lost.
 */
export async function inMasterAdminTurn<T>(context: AdminContext, work: () => Promise<T>): Promise<T> {
  const master = await context.store.findRealm(MASTER);
  const admin = master === undefined ? undefined : findAdminRole(master);
  if (admin === undefined) return await work();
  return await inTurn(context.store, recordKey('role', admin.id), work);
}
