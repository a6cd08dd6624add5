import { type AdminApi, path } from '../../api/admin-api.ts';
import type { Client, Role, RoleMappings } from '../../api/representations.ts';

/** A role with the client that it belongs to, if any. */
export interface OwnedRole {
  role: Role;
  client?: { id: string; clientId: string };
}

export const keyOf = ({ role }: OwnedRole): string => role.id;

/** Returns the name of a role, after the id of its client if it belongs to one. */
export const titleOf = ({ role, client }: OwnedRole): string =>
  client === undefined ? role.name : `${client.clientId}: ${role.name}`;

export const byTitle = (one: OwnedRole, other: OwnedRole): number =>
  titleOf(one).localeCompare(titleOf(other));

/** Whether the title or the description of a role contains the text. */
export function matches(owned: OwnedRole, search: string): boolean {
  const text = `${titleOf(owned)} ${descriptionOf(owned.role)}`.toLowerCase();
  return text.includes(search.toLowerCase());
}

/**
 * Returns the description to show for a role. It is empty for `${role_…}`, which is a key of Keycloak's message files.
 */
export function descriptionOf({ description }: Role): string {
  return description === undefined || description.startsWith('${') ? '' : description;
}

/** Returns the path of the mappings of the role's owner, below the path of all mappings of a holder. */
export function mappingPath(base: string, { client }: OwnedRole): string {
  return client === undefined ? `${base}/realm` : base + path`/clients/${client.id}`;
}

/** Returns all roles of the mappings of a user, group, client or scope. */
export function rolesOfMappings(found: RoleMappings): readonly OwnedRole[] {
  const realmRoles = (found.realmMappings ?? []).map((role) => ({ role }));
  const clientRoles = Object.values(found.clientMappings ?? {}).flatMap(({ id, client, mappings }) =>
    mappings.map((role) => ({ role, client: { id, clientId: client } })),
  );
  return [...realmRoles, ...clientRoles];
}

/** Adds the client to each role. A role only names the UUID of its client, so the clients are read. */
export async function withClients(
  api: AdminApi,
  realm: string,
  roles: readonly Role[],
): Promise<readonly OwnedRole[]> {
  const uuids = new Set(roles.flatMap((role) => (role.clientRole === true ? [role.containerId!] : [])));
  const clients = new Map(
    await Promise.all(
      [...uuids].map(
        async (id) => [id, (await api.get<Client>(path`/${realm}/clients/${id}`)).clientId] as const,
      ),
    ),
  );
  return roles.map((role) => {
    const id = role.clientRole === true ? role.containerId : undefined;
    const clientId = id === undefined ? undefined : clients.get(id);
    return id === undefined || clientId === undefined ? { role } : { role, client: { id, clientId } };
  });
}

/** Finds realm roles by a part of their name, or roles of a client by `client:` and a part of the name. */
export async function findRoles(
  api: AdminApi,
  realm: string,
  search: string,
  max: number,
): Promise<readonly OwnedRole[]> {
  const colon = search.indexOf(':');
  if (colon < 0) {
    const roles = await api.get<readonly Role[]>(path`/${realm}/roles`, { search, first: 0, max });
    return roles.map((role) => ({ role }));
  }
  const clients = await api.get<readonly Client[]>(path`/${realm}/clients`, {
    clientId: search.slice(0, colon).trim(),
    search: true,
    first: 0,
    max: 3,
  });
  const wanted = search.slice(colon + 1).trim();
  const lists = await Promise.all(
    clients.map(async ({ id, clientId }) => {
      const roles = await api.get<readonly Role[]>(path`/${realm}/clients/${id}/roles`, {
        search: wanted,
        first: 0,
        max,
      });
      return roles.map((role) => ({ role, client: { id, clientId } }));
    }),
  );
  return lists.flat().slice(0, max);
}
