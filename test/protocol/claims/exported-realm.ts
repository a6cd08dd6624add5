import { readFileSync } from 'node:fs';
import { Secret } from '../../../src/core/index.ts';
import { KEY_SECRET_NAMES } from '../../../src/crypto/index.ts';
import type { Client, ClientScope, Component, Group, Realm, Role, User } from '../../../src/model/index.ts';
import type { RealmConfiguration } from '../../../src/store/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: another program wrote this representation
type Json = any;

/** A realm from a real export of Keycloak, built without the administrative import. */
export interface ExportedRealm {
  configuration: RealmConfiguration;
  clients: ReadonlyMap<string, Client>;
  clientsByUuid: ReadonlyMap<string, Client>;
  users: ReadonlyMap<string, User>;
  /** Each user's password credential. */
  passwords: ReadonlyMap<string, { secretData: string; credentialData: string }>;
}

const FIXTURES = new URL('../../fixtures/keycloak/exports/', import.meta.url);

/** Keycloak's responses for the exported realms. */
export function expected(): Json {
  return JSON.parse(readFileSync(new URL('expected.json', FIXTURES), 'utf8'));
}

export function exportedRealm(name: 'acme' | 'globex' | 'initech'): ExportedRealm {
  const json = JSON.parse(readFileSync(new URL(`${name}-realm.json`, FIXTURES), 'utf8'));
  const realmId: string = json.id;
  const uuids = new Map<string, string>(json.clients.map((one: Json) => [one.clientId, one.id]));
  const realmRoleIds = new Map<string, string>(json.roles.realm.map((one: Json) => [one.name, one.id]));
  const clientRoleIds = new Map<string, string>();
  for (const [clientId, list] of Object.entries<Json[]>(json.roles.client))
    for (const role of list) clientRoleIds.set(`${clientId}/${role.name}`, role.id);
  const roleIds = (realm: string[] = [], client: Record<string, string[]> = {}): string[] => [
    ...realm.map((one) => realmRoleIds.get(one)!),
    ...Object.entries(client).flatMap(([id, names]) =>
      names.map((one) => clientRoleIds.get(`${id}/${one}`)!),
    ),
  ];

  const roles = new Map<string, Role>();
  const addRole = (one: Json, clientUuid?: string): void => {
    roles.set(one.id, {
      id: one.id,
      realmId,
      name: one.name,
      attributes: one.attributes ?? {},
      compositeIds: roleIds(one.composites?.realm, one.composites?.client),
      ...(clientUuid ? { clientUuid } : {}),
    });
  };
  for (const one of json.roles.realm) addRole(one);
  for (const [clientId, list] of Object.entries<Json[]>(json.roles.client))
    for (const one of list) addRole(one, uuids.get(clientId)!);

  const groups = new Map<string, Group>();
  const groupIds = new Map<string, string>();
  const addGroup = (one: Json): void => {
    groupIds.set(one.path, one.id);
    groups.set(one.id, {
      id: one.id,
      realmId,
      name: one.name,
      attributes: one.attributes ?? {},
      roleIds: roleIds(one.realmRoles, one.clientRoles),
      isDefault: false,
      ...(one.parentId ? { parentId: one.parentId } : {}),
    });
    for (const child of one.subGroups ?? []) addGroup(child);
  };
  for (const one of json.groups ?? []) addGroup(one);

  const clientScopes = new Map<string, ClientScope>();
  const scopeIds = new Map<string, string>();
  for (const one of json.clientScopes) {
    const mapped = (json.scopeMappings ?? []).filter((entry: Json) => entry.clientScope === one.name);
    scopeIds.set(one.name, one.id);
    clientScopes.set(one.id, {
      id: one.id,
      realmId,
      name: one.name,
      protocol: one.protocol,
      attributes: one.attributes ?? {},
      protocolMappers: one.protocolMappers ?? [],
      scopeRoleIds: roleIds(mapped.flatMap((entry: Json) => entry.roles)),
      realmDefault: 'none',
    });
  }

  const clients = new Map<string, Client>();
  for (const one of json.clients) {
    const { secret, defaultClientScopes, optionalClientScopes, ...rest } = one;
    const mapped = Object.entries<Json[]>(json.clientScopeMappings ?? {}).flatMap(([owner, list]) =>
      list.filter((entry) => entry.client === one.clientId).map((entry) => ({ [owner]: entry.roles })),
    );
    clients.set(one.clientId, {
      ...rest,
      realmId,
      protocolMappers: one.protocolMappers ?? [],
      authenticationFlowBindingOverrides: one.authenticationFlowBindingOverrides ?? {},
      defaultClientScopeIds: (defaultClientScopes ?? []).map((scope: string) => scopeIds.get(scope)!),
      optionalClientScopeIds: (optionalClientScopes ?? []).map((scope: string) => scopeIds.get(scope)!),
      scopeRoleIds: mapped.flatMap((entry) => roleIds([], entry)),
      kept: {},
      secrets: secret ? { '/secret': new Secret(secret) } : {},
    });
  }

  const users = new Map<string, User>();
  const passwords = new Map<string, { secretData: string; credentialData: string }>();
  for (const one of json.users) {
    users.set(one.username, {
      id: one.id,
      realmId,
      username: one.username,
      emailVerified: one.emailVerified,
      enabled: one.enabled,
      createdTimestamp: one.createdTimestamp,
      attributes: one.attributes ?? {},
      requiredActions: one.requiredActions ?? [],
      notBefore: one.notBefore,
      roleIds: roleIds(one.realmRoles, one.clientRoles),
      groupIds: (one.groups ?? []).map((path: string) => groupIds.get(path)!),
      kept: {},
      ...(one.firstName ? { firstName: one.firstName } : {}),
      ...(one.lastName ? { lastName: one.lastName } : {}),
      ...(one.email ? { email: one.email } : {}),
      ...(one.serviceAccountClientId
        ? { serviceAccountClientUuid: uuids.get(one.serviceAccountClientId)! }
        : {}),
    });
    const password = one.credentials?.find((credential: Json) => credential.type === 'password');
    if (password !== undefined) passwords.set(one.username, password);
  }

  const components = Object.entries<Json[]>(json.components).flatMap(([providerType, list]) =>
    list.map((one) => exportedComponent(realmId, providerType, one)),
  );
  const { attributes, passwordPolicy, defaultSignatureAlgorithm } = json;
  const settings = { attributes, passwordPolicy, defaultSignatureAlgorithm, kept: json };
  const realm = { id: realmId, name, defaultRoleId: json.defaultRole.id, settings, secrets: {} };
  return {
    configuration: { realm: realm as unknown as Realm, roles, groups, clientScopes, components },
    clients,
    clientsByUuid: new Map([...clients.values()].map((one) => [one.id, one])),
    users,
    passwords,
  };
}

function exportedComponent(realmId: string, providerType: string, one: Json): Component {
  const secrets: Record<string, Secret> = {};
  const config: Record<string, readonly string[]> = {};
  for (const [name, values] of Object.entries<string[]>(one.config)) {
    if (KEY_SECRET_NAMES.has(name)) secrets[`/config/${name}/0`] = new Secret(values[0]!);
    else config[name] = values;
  }
  const { id, name, providerId } = one;
  return { id, realmId, name, providerId, providerType, parentId: realmId, config, secrets };
}
