import { IdkitError } from '../../core/index.ts';
import { type Client, type Group, groupPath, type Role, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { AdminContext, RealmCall } from '../call/context.ts';
import { clientRepresentation, clientScopeRepresentation } from '../client/client-representation.ts';
import { componentRepresentation } from '../realm/components.ts';
import { settingsRepresentation } from '../realm/realm-representation.ts';
import { defined, type Json } from '../representation/json.ts';
import { byName, type Labels } from '../representation/names.ts';
import { roleRepresentation } from '../role/roles.ts';
import { consentRepresentation } from '../user/consents.ts';
import { exportedCredential, userRepresentation } from '../user/user-representation.ts';

/**
 * Exports a realm with users, password hashes, secrets and keys, as `kc.sh export` does. `importRealm` creates the same
 * realm from the export.
 *
 * @throws IDKIT_NOT_FOUND
 */
export async function exportRealm(context: AdminContext, name: string): Promise<Json> {
  const configuration = await context.store.findRealm(name);
  if (configuration === undefined) throw new IdkitError('IDKIT_NOT_FOUND', `realm ${name} does not exist`);
  return exportParts(context, configuration, WHOLE);
}

/** What an export contains besides the settings, client scopes and components. */
export interface ExportedParts {
  /** `accounts`: only the service accounts of clients, without credentials. */
  users: 'all' | 'accounts' | 'none';
  clients: boolean;
  groupsAndRoles: boolean;
  secrets: 'clear' | 'masked';
}

const WHOLE: ExportedParts = { users: 'all', clients: true, groupsAndRoles: true, secrets: 'clear' };

/**
 * Exports parts of a realm without its users, with masked secrets, as `POST …/partial-export` of Keycloak does.
 *
 * @throws AdminRefusal 403 if the caller may not see a part
 */
export function exportPartially(
  { context, configuration, rights }: RealmCall,
  parts: Pick<ExportedParts, 'clients' | 'groupsAndRoles'>,
): Promise<Json> {
  if (parts.groupsAndRoles) rights.check('queryGroups');
  if (parts.clients) rights.check('viewClients');
  return exportParts(context, configuration, {
    ...parts,
    users: parts.clients ? 'accounts' : 'none',
    secrets: 'masked',
  });
}

/** Exports the parts of a realm. The representation is that of `exportRealm`. */
export async function exportParts(
  context: AdminContext,
  configuration: RealmConfiguration,
  parts: ExportedParts,
): Promise<Json> {
  const { store } = context;
  const { realm } = configuration;
  const clients = await store.listClients({ realmId: realm.id });
  const labels: Labels = {
    configuration,
    clientIds: new Map(clients.map((client) => [client.id, client.clientId])),
  };
  const scopes = [...configuration.clientScopes.values()];
  const ofDefault = (kind: string) =>
    scopes.filter((scope) => scope.realmDefault === kind).map((scope) => scope.name);
  const groups = [...configuration.groups.values()];
  const defaultRole = configuration.roles.get(realm.defaultRoleId);
  const { secrets } = parts;
  return {
    id: realm.id,
    realm: realm.name,
    ...settingsRepresentation(configuration, secrets),
    ...(defaultRole === undefined ? {} : { defaultRole: roleRepresentation(defaultRole) }),
    ...(parts.groupsAndRoles
      ? {
          roles: exportRoles(labels, parts.clients ? clients : []),
          groups: exportGroups(labels),
          defaultGroups: groups
            .filter((group) => group.isDefault)
            .map((group) => groupPath(configuration, group)),
        }
      : {}),
    ...(parts.users === 'none' ? {} : { users: await exportUsers(context, labels, clients, parts.users) }),
    ...(parts.clients
      ? { clients: clients.map((client) => clientRepresentation(configuration, client, secrets)) }
      : {}),
    clientScopes: scopes.map(clientScopeRepresentation),
    defaultDefaultClientScopes: ofDefault('default'),
    defaultOptionalClientScopes: ofDefault('optional'),
    ...(parts.clients ? exportScopeMappings(labels, clients) : {}),
    components: exportComponents(configuration, realm.id, secrets),
  };
}

/** Exports the roles of the realm and of these clients, with the names of the roles that they include. */
export function exportRoles(labels: Labels, clients: readonly Client[]): Json {
  const roles = [...labels.configuration.roles.values()];
  const exported = (role: Role): Json => {
    const { realmRoles, clientRoles } = byName(labels, role.compositeIds);
    const composites =
      role.compositeIds.length === 0 ? {} : { composites: { realm: realmRoles, client: clientRoles } };
    return { ...roleRepresentation(role, 'full'), ...composites };
  };
  return {
    realm: roles.filter((role) => role.clientUuid === undefined).map(exported),
    client: Object.fromEntries(
      clients.map((client) => [
        client.clientId,
        roles.filter((role) => role.clientUuid === client.id).map(exported),
      ]),
    ),
  };
}

/** Exports the trees of the realm's groups. */
export function exportGroups(labels: Labels): readonly Json[] {
  const { configuration } = labels;
  const children = new Map<string | undefined, Group[]>();
  for (const group of configuration.groups.values())
    children.set(group.parentId, [...(children.get(group.parentId) ?? []), group]);
  const exported = (group: Group): Json => ({
    ...defined({
      id: group.id,
      name: group.name,
      description: group.description,
      path: groupPath(configuration, group),
      parentId: group.parentId,
    }),
    subGroups: (children.get(group.id) ?? []).map(exported),
    attributes: group.attributes,
    ...byName(labels, group.roleIds),
  });
  return (children.get(undefined) ?? []).map(exported);
}

async function exportUsers(
  context: AdminContext,
  labels: Labels,
  clients: readonly Client[],
  which: 'all' | 'accounts',
): Promise<Json[]> {
  const { store } = context;
  const { configuration } = labels;
  const accounts: User[] = [];
  for (const client of clients) {
    const account = client.serviceAccountsEnabled ? await store.findServiceAccount(client.id) : undefined;
    if (account !== undefined) accounts.push(account);
  }
  const people = which === 'all' ? await store.listUsers({ realmId: configuration.realm.id }) : [];
  const exported: Json[] = [];
  for (const user of [...people, ...accounts])
    exported.push(await exportUser(context, labels, user, { credentials: which === 'all' }));
  return exported;
}

/** Exports one user with roles, groups and consents, and optionally with the secrets of the credentials. */
export async function exportUser(
  { store }: AdminContext,
  labels: Labels,
  user: User,
  parts: { credentials: boolean },
): Promise<Json> {
  const { configuration } = labels;
  const credentials = await store.listCredentials(user.id);
  const clientConsents: Json[] = [];
  for (const consent of await store.listConsents(user.id)) {
    const shown = await consentRepresentation(consent, configuration, (id) => labels.clientIds.get(id));
    if (shown !== undefined) clientConsents.push(shown);
  }
  const { realmRoles, clientRoles } = byName(labels, user.roleIds);
  const account = user.serviceAccountClientUuid;
  return {
    ...userRepresentation(user, { totp: credentials.some((credential) => credential.type === 'otp') }),
    ...user.kept,
    ...(account === undefined ? {} : { serviceAccountClientId: labels.clientIds.get(account) }),
    ...(parts.credentials ? { credentials: credentials.map(exportedCredential) } : {}),
    ...(clientConsents.length === 0 ? {} : { clientConsents }),
    realmRoles,
    clientRoles,
    groups: user.groupIds.flatMap((id) => {
      const group = configuration.groups.get(id);
      return group === undefined ? [] : [groupPath(configuration, group)];
    }),
  };
}

/** Exports the scope mappings of these clients and of all client scopes. */
export function exportScopeMappings(labels: Labels, clients: readonly Client[]): Json {
  const scopeMappings: Json[] = [];
  const clientScopeMappings = new Map<string, Json[]>();
  const holders = [
    ...clients.map((client) => ({ key: { client: client.clientId }, ids: client.scopeRoleIds })),
    ...labels.configuration.clientScopes
      .values()
      .map((scope) => ({ key: { clientScope: scope.name }, ids: scope.scopeRoleIds })),
  ];
  for (const { key, ids } of holders) {
    const { realmRoles, clientRoles } = byName(labels, ids);
    if (realmRoles.length > 0) scopeMappings.push({ ...key, roles: realmRoles });
    for (const [clientId, roles] of Object.entries(clientRoles))
      clientScopeMappings.set(clientId, [...(clientScopeMappings.get(clientId) ?? []), { ...key, roles }]);
  }
  return { scopeMappings, clientScopeMappings: Object.fromEntries(clientScopeMappings) };
}

function exportComponents(
  configuration: RealmConfiguration,
  parentId: string,
  secrets: ExportedParts['secrets'],
): Json {
  const byType = new Map<string, Json[]>();
  for (const component of configuration.components) {
    if (component.parentId !== parentId) continue;
    const {
      providerType: _type,
      parentId: _parent,
      ...representation
    } = componentRepresentation(component, secrets);
    const list = byType.get(component.providerType) ?? [];
    list.push({ ...representation, subComponents: exportComponents(configuration, component.id, secrets) });
    byType.set(component.providerType, list);
  }
  return Object.fromEntries(byType);
}
