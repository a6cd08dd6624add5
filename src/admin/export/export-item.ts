import { IdkitError } from '../../core/index.ts';
import { type Client, type Group, groupPath, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { AdminContext } from '../call/context.ts';
import { clientRepresentation } from '../client/client-representation.ts';
import { type Json, objects } from '../representation/json.ts';
import type { Labels } from '../representation/names.ts';
import { exportGroups, exportParts, exportRoles, exportScopeMappings, exportUser } from './export-realm.ts';

/** Records of a realm as the body of `POST /admin/realms/{realm}/put-back`. It contains secrets. */
export interface ExportedItem {
  records: Json;
  references: Json;
  /** Roles and groups that include roles of the exported client or group. */
  composites: readonly Json[];
}

/** A realm of a backup, read for the return of some of its records. */
export interface ItemSource {
  context: AdminContext;
  labels: Labels;
  clients: readonly Client[];
}

/** @throws IDKIT_NOT_FOUND */
export async function openItemSource(context: AdminContext, realm: string): Promise<ItemSource> {
  const configuration = await context.store.findRealm(realm);
  if (configuration === undefined) throw new IdkitError('IDKIT_NOT_FOUND', `realm ${realm} does not exist`);
  const clients = await context.store.listClients({ realmId: configuration.realm.id });
  const clientIds = new Map(clients.map((client) => [client.id, client.clientId]));
  return { context, clients, labels: { configuration, clientIds } };
}

/** Exports users with their credentials. */
export async function exportUserItems(source: ItemSource, users: readonly User[]): Promise<ExportedItem> {
  const references = new ReferenceList(source);
  const exported: Json[] = [];
  for (const user of users) {
    exported.push(await exportUser(source.context, source.labels, user, { credentials: true }));
    references.addRoles(user.roleIds);
    references.addGroups(user.groupIds);
    for (const { clientUuid, scopeIds } of await source.context.store.listConsents(user.id)) {
      references.addClients([clientUuid]);
      references.addScopes(scopeIds);
    }
  }
  return { records: { users: exported }, references: references.result(), composites: [] };
}

/** Exports a client with its roles, scope mappings and service account. */
export async function exportClientItem(source: ItemSource, client: Client): Promise<ExportedItem> {
  const { context, labels } = source;
  const { configuration } = labels;
  const { id, clientId } = client;
  const references = new ReferenceList(source);
  const account = await context.store.findServiceAccount(id);
  const users =
    account === undefined ? [] : [await exportUser(context, labels, account, { credentials: true })];
  const roles = [...configuration.roles.values()].filter(({ clientUuid }) => clientUuid === id);
  const { scopeMappings, clientScopeMappings } = exportScopeMappings(labels, [client]);
  references.addClients([id]);
  references.addScopes([...client.defaultClientScopeIds, ...client.optionalClientScopeIds]);
  references.addRoles([
    ...roles.flatMap((role) => [role.id, ...role.compositeIds]),
    ...client.scopeRoleIds,
    ...(account?.roleIds ?? []),
  ]);
  references.addGroups(account?.groupIds ?? []);
  const own = new Set(roles.map((role) => role.id));
  const composites = compositesWith(configuration, own, references);
  return {
    records: {
      clients: [clientRepresentation(configuration, client, 'clear')],
      roles: { client: { [clientId]: (exportRoles(labels, [client])['client'] as Json)[clientId] } },
      scopeMappings: objects(scopeMappings).filter((one) => one['client'] === clientId),
      clientScopeMappings: onlyOf(clientId, clientScopeMappings as Json),
      users,
    },
    references: references.result(),
    composites,
  };
}

function onlyOf(clientId: string, mappings: Json): Json {
  const kept = Object.entries(mappings).map(
    ([owner, list]) => [owner, objects(list).filter((one) => one['client'] === clientId)] as const,
  );
  return Object.fromEntries(kept.filter(([, list]) => list.length > 0));
}

/** Exports a group with its subgroups. */
export function exportGroupItem(source: ItemSource, group: Group): ExportedItem {
  const { configuration } = source.labels;
  const references = new ReferenceList(source);
  const path = groupPath(configuration, group);
  const tree = findTree(exportGroups(source.labels), group.id);
  if (tree === undefined) throw new IdkitError('IDKIT_NOT_FOUND', `group ${path} does not exist`);
  const below = new Set(
    [...configuration.groups.values()].filter((one) => isBelow(configuration, one, group.id)),
  );
  for (const one of below) references.addRoles(one.roleIds);
  references.addGroups([...below].map(({ id }) => id));
  if (group.parentId !== undefined) references.addGroups([group.parentId]);
  const defaultGroups = [...below]
    .filter(({ isDefault }) => isDefault)
    .map((one) => groupPath(configuration, one));
  return { records: { groups: [tree], defaultGroups }, references: references.result(), composites: [] };
}

function findTree(trees: readonly Json[], id: string): Json | undefined {
  for (const tree of trees) {
    const found = tree['id'] === id ? tree : findTree(objects(tree['subGroups']), id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isBelow({ groups }: RealmConfiguration, group: Group, rootId: string): boolean {
  const seen = new Set<string>();
  for (let one: Group | undefined = group; one !== undefined; one = groups.get(one.parentId ?? '')) {
    if (one.id === rootId) return true;
    if (seen.has(one.id)) return false;
    seen.add(one.id);
  }
  return false;
}

/**
 * Exports a realm without its users, but with the service accounts. Tokens that were issued before now are invalid in
 * the realm that comes back.
 */
export async function exportRealmItem({ context, labels }: ItemSource): Promise<Json> {
  const exported = await exportParts(context, labels.configuration, {
    users: 'accounts',
    clients: true,
    groupsAndRoles: true,
    secrets: 'clear',
  });
  return { ...exported, notBefore: Math.floor(context.clock.now() / 1000) };
}

function compositesWith(
  { roles, groups }: RealmConfiguration,
  own: ReadonlySet<string>,
  references: ReferenceList,
): Json[] {
  const composites: Json[] = [];
  for (const role of roles.values()) {
    const included = own.has(role.id) ? [] : role.compositeIds.filter((id) => own.has(id));
    if (included.length === 0) continue;
    references.addRoles([role.id]);
    composites.push({ roleId: role.id, roles: included });
  }
  for (const group of groups.values()) {
    const included = group.roleIds.filter((id) => own.has(id));
    if (included.length === 0) continue;
    references.addGroups([group.id]);
    composites.push({ groupId: group.id, roles: included });
  }
  return composites;
}

/** Collects the ids of records that a representation names. */
class ReferenceList {
  readonly #source: ItemSource;
  readonly #roles = new Map<string, Json>();
  readonly #groups = new Map<string, Json>();
  readonly #clients = new Map<string, Json>();
  readonly #scopes = new Map<string, Json>();

  constructor(source: ItemSource) {
    this.#source = source;
  }

  addRoles(ids: readonly string[]): void {
    const { configuration, clientIds } = this.#source.labels;
    for (const id of ids) {
      const role = configuration.roles.get(id);
      if (role === undefined) continue;
      const client = role.clientUuid === undefined ? undefined : clientIds.get(role.clientUuid);
      if (role.clientUuid !== undefined) this.addClients([role.clientUuid]);
      this.#roles.set(id, { id, name: role.name, ...(client === undefined ? {} : { client }) });
    }
  }

  addGroups(ids: readonly string[]): void {
    const { configuration } = this.#source.labels;
    for (const id of ids) {
      const group = configuration.groups.get(id);
      if (group !== undefined) this.#groups.set(id, { id, path: groupPath(configuration, group) });
    }
  }

  addClients(ids: readonly string[]): void {
    for (const id of ids) {
      const clientId = this.#source.labels.clientIds.get(id);
      if (clientId !== undefined) this.#clients.set(id, { id, clientId });
    }
  }

  addScopes(ids: readonly string[]): void {
    for (const id of ids) {
      const scope = this.#source.labels.configuration.clientScopes.get(id);
      if (scope !== undefined) this.#scopes.set(id, { id, name: scope.name });
    }
  }

  result(): Json {
    return {
      roles: [...this.#roles.values()],
      groups: [...this.#groups.values()],
      clients: [...this.#clients.values()],
      clientScopes: [...this.#scopes.values()],
    };
  }
}
