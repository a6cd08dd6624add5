import { isJsonObject } from '../../core/index.ts';
import { type Client, REVISION, type Role } from '../../model/index.ts';
import { buildClient } from '../client/build-client.ts';
import { checkClientName } from '../client/clients.ts';
import { type Json, objects } from '../representation/json.ts';
import { checkClientSecrets } from '../representation/missing-secrets.ts';
import { addScopeMappings, buildRoles } from '../role/build-roles.ts';
import type { PutBackWork } from './put-back.ts';

/** Plans the clients, without their roles, scope mappings and service accounts. */
export async function putBackClients(work: PutBackWork, given: readonly Json[]): Promise<void> {
  const { call, names, known } = work;
  const byId = new Map(work.clients.map((client) => [client.id, client]));
  const byName = new Map(work.clients.map((client) => [client.clientId, client]));
  for (const [index, one] of given.entries()) {
    const path = `$.records.clients[${index}]`;
    checkClientSecrets(one, path);
    const owner = `client ${String(one['clientId'])}`;
    const own = {
      ...one,
      ...(one['defaultClientScopes'] === undefined
        ? {}
        : { defaultClientScopes: known.clientScopes(one['defaultClientScopes'], owner) }),
      ...(one['optionalClientScopes'] === undefined
        ? {}
        : { optionalClientScopes: known.clientScopes(one['optionalClientScopes'], owner) }),
    };
    const realmId = call.configuration.realm.id;
    const client = buildClient(own, { context: call.context, realmId, names, path });
    const there = byId.get(client.id);
    const sameName = byName.get(client.clientId);
    const outcome = { kind: 'client' as const, name: client.clientId, id: client.id };
    if (sameName !== undefined && sameName.id !== client.id) {
      work.clashes.push({
        ...outcome,
        what: `client ${client.clientId} exists with another id; rename or delete it, and put the client back again`,
      });
      continue;
    }
    if (there !== undefined && !work.overwrite) {
      work.outcomes.push({ action: 'kept', ...outcome });
      continue;
    }
    checkClientName(call, there?.clientId ?? '', client.clientId);
    names.clients.set(client.clientId, client.id);
    if (there === undefined) {
      work.created.clients.set(client.id, client);
      work.changes.push({ do: 'create', client: { ...client, notBefore: work.notBefore } });
      work.outcomes.push({ action: 'created', ...outcome });
    } else {
      const kept = { scopeRoleIds: there.scopeRoleIds, [REVISION]: there[REVISION]! };
      work.changes.push({ do: 'put', client: { ...client, ...kept } });
      work.outcomes.push({ action: 'changed', ...outcome });
    }
  }
}

/** Plans the roles. Roles that exist stay unchanged. */
export async function putBackRoles(work: PutBackWork, given: Json): Promise<void> {
  const { call, names, known } = work;
  const { configuration } = call;
  const missing = (list: unknown, clientId?: string): Json[] =>
    objects(list).flatMap((one) => {
      const name = String(one['name']);
      const byName =
        clientId === undefined ? names.realmRoles.get(name) : names.clientRoles.get(clientId)?.get(name);
      const there = configuration.roles.get(String(one['id'])) ?? configuration.roles.get(byName ?? '');
      if (there === undefined) return [one];
      const shown = clientId === undefined ? name : `${clientId}/${name}`;
      work.outcomes.push({ action: 'kept', kind: 'role', name: shown, id: there.id });
      return [];
    });
  const realm = missing(given['realm']);
  const client: Record<string, Json[]> = {};
  for (const [clientId, list] of Object.entries(isJsonObject(given['client']) ? given['client'] : {}))
    if (names.clients.has(clientId)) client[clientId] = missing(list, clientId);
  // The names of new roles must be known before their composites are checked.
  for (const one of realm) names.realmRoles.set(String(one['name']), String(one['id']));
  for (const [clientId, list] of Object.entries(client))
    for (const one of list) names.addClientRole(clientId, String(one['name']), String(one['id']));
  const clean = (one: Json, owner: string): Json => {
    const composites = one['composites'];
    if (!isJsonObject(composites)) return one;
    const kept = {
      realm: known.realmRoles(composites['realm'], owner),
      client: known.clientRoles(composites['client'], owner),
    };
    return { ...one, composites: kept };
  };
  const wanted = {
    realm: realm.map((one) => clean(one, `role ${String(one['name'])}`)),
    client: Object.fromEntries(
      Object.entries(client).map(([clientId, list]) => [
        clientId,
        list.map((one) => clean(one, `role ${String(one['name'])} of client ${clientId}`)),
      ]),
    ),
  };
  const clientIds = new Map([...names.clients].map(([clientId, id]) => [id, clientId]));
  for (const role of await buildRoles(wanted, configuration.realm.id, names, call.context))
    addRole(work, role, role.clientUuid === undefined ? undefined : clientIds.get(role.clientUuid));
}

function addRole(work: PutBackWork, role: Role, clientId: string | undefined): void {
  const name = clientId === undefined ? role.name : `${clientId}/${role.name}`;
  work.created.roles.set(role.id, role);
  work.granted.roleIds.push(...role.compositeIds);
  work.changes.push({ do: 'create', role });
  work.outcomes.push({ action: 'created', kind: 'role', name, id: role.id });
}

/** Adds the scope mappings to the clients that this call creates. */
export async function putBackScopeMappings(work: PutBackWork, records: Json): Promise<void> {
  const { names, known, created } = work;
  const isNew = (mapping: Json) => created.clients.has(names.clients.get(String(mapping['client'])) ?? '');
  const scopeMappings = objects(records['scopeMappings'])
    .filter(isNew)
    .map((one) => ({ ...one, roles: known.realmRoles(one['roles'], `client ${String(one['client'])}`) }));
  const clientScopeMappings: Record<string, Json[]> = {};
  const given = isJsonObject(records['clientScopeMappings']) ? records['clientScopeMappings'] : {};
  for (const [clientId, list] of Object.entries(given))
    clientScopeMappings[clientId] = objects(list)
      .filter(isNew)
      .map((one) => {
        const owner = `client ${String(one['client'])}`;
        return { ...one, roles: known.clientRoles({ [clientId]: one['roles'] }, owner)[clientId] ?? [] };
      });
  const mapped = await addScopeMappings(
    { scopeMappings, clientScopeMappings },
    names,
    [...created.clients.values()],
    [],
  );
  const byId = new Map(mapped.clients.map((client) => [client.id, client.scopeRoleIds]));
  work.changes = work.changes.map((change) =>
    change.do === 'create' && 'client' in change
      ? { ...change, client: mappedClient(change.client, byId) }
      : change,
  );
}

function mappedClient(client: Client, scopeRoleIds: ReadonlyMap<string, readonly string[]>): Client {
  return { ...client, scopeRoleIds: scopeRoleIds.get(client.id) ?? client.scopeRoleIds };
}
