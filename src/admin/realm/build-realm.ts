import { Slices, uuid } from '../../core/index.ts';
import { ensureNamedKeys } from '../../crypto/index.ts';
import type {
  Client,
  ClientScope,
  Component,
  Consent,
  Credential,
  Group,
  Realm,
  RealmSettings,
  Role,
  User,
} from '../../model/index.ts';
import type { AdminContext, Progress } from '../call/context.ts';
import { buildClient } from '../client/build-client.ts';
import { buildScopes } from '../client/build-scopes.ts';
import { completeRealm } from '../defaults/complete-realm.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { type Json, objects, text } from '../representation/json.ts';
import { Names, Unique } from '../representation/names.ts';
import { splitRealmSecrets } from '../representation/secrets.ts';
import { addScopeMappings, buildGroups, buildRoles } from '../role/build-roles.ts';
import { buildUsers } from '../user/build-users.ts';
import { buildComponents } from './build-components.ts';
import { SETTINGS } from './realm-settings.ts';

/** All records of a new realm, ready to be stored. */
export interface BuiltRealm {
  realm: Realm;
  clients: readonly Client[];
  scopes: readonly ClientScope[];
  roles: readonly Role[];
  groups: readonly Group[];
  components: readonly Component[];
  users: readonly User[];
  credentials: readonly Credential[];
  consents: readonly Consent[];
}

/** Fields of a complete representation that have their own records or are computed. */
const NOT_SETTINGS: ReadonlySet<string> = new Set([
  'id',
  'realm',
  'defaultRole',
  'defaultRoles',
  'defaultGroups',
  'defaultDefaultClientScopes',
  'defaultOptionalClientScopes',
  'roles',
  'groups',
  'users',
  'clients',
  'clientScopes',
  'scopeMappings',
  'clientScopeMappings',
  'components',
  'keycloakVersion',
]);

/**
 * Builds a realm from a checked representation and completes it as Keycloak does, see docs/keycloak/realms.md#defaults.
 * Stores nothing.
 *
 * @throws RepresentationFault for unknown and duplicate names
 */
export async function buildRealm(
  given: Json,
  name: string,
  context: AdminContext,
  progress?: Progress,
): Promise<BuiltRealm> {
  const representation = completeRealm(given, name);
  const id = text(given['id']) || uuid(context.random);
  const names = new Names();
  const ownScopes = buildScopes(representation, id, names, context);
  const clientPlaces = await buildClients(representation, id, names, context);
  const roles = await buildRoles(representation['roles'] as Json, id, names, context);
  const { clients, scopes } = await addScopeMappings(representation, names, clientPlaces, ownScopes);
  const groups = await buildGroups(
    representation['groups'],
    id,
    names,
    context,
    representation['defaultGroups'],
  );
  const defaultRole = text((representation['defaultRole'] as Json)['name'])!;
  const settings = buildSettings(representation);
  const { users, credentials, consents } = await buildUsers(representation, {
    realm: { id, settings: settings.rest },
    clients,
    defaultRoleId: names.realmRoles.get(defaultRole)!,
    names,
    context,
    progress,
  });
  const brought = await buildComponents(representation, { id, name }, context);
  const added = await ensureNamedKeys({
    ...context,
    realm: { id, name },
    components: brought,
    settings: settings.rest,
    clients,
  });
  const components = [...brought, ...added];
  const ids = new Unique('component id');
  for (const [index, component] of components.entries()) ids.add(component.id, `$.components (${index})`);
  return {
    realm: {
      id,
      name,
      defaultRoleId: names.realmRoles.get(defaultRole)!,
      settings: settings.rest,
      secrets: settings.secrets,
    },
    clients,
    scopes,
    roles,
    groups,
    components,
    users,
    credentials,
    consents,
  };
}

async function buildClients(
  representation: Json,
  realmId: string,
  names: Names,
  context: AdminContext,
): Promise<Client[]> {
  const clientIds = new Unique('clientId');
  const uuids = new Unique('client id');
  const slices = new Slices();
  const clients: Client[] = [];
  for (const [index, given] of objects(representation['clients']).entries()) {
    if (slices.isOver) await slices.pause();
    const path = `$.clients[${index}]`;
    if (given['clientId'] === undefined || given['clientId'] === '')
      throw new RepresentationFault(`${path}.clientId`, 'a client needs a clientId');
    const client = buildClient(given, { context, realmId, names, path });
    clientIds.add(client.clientId, `${path}.clientId`);
    uuids.add(client.id, `${path}.id`);
    names.clients.set(client.clientId, client.id);
    clients.push(client);
  }
  return clients;
}

/** Builds the settings of a realm from its complete representation. */
export function buildSettings(representation: Json): { rest: RealmSettings; secrets: Realm['secrets'] } {
  const { rest, secrets } = splitRealmSecrets(representation);
  const own = Object.fromEntries(
    SETTINGS.flatMap((name) => (rest[name] === undefined ? [] : [[name, rest[name]]])),
  );
  const kept = Object.fromEntries(
    Object.entries(rest).filter(
      ([name]) => !NOT_SETTINGS.has(name) && !(SETTINGS as readonly string[]).includes(name),
    ),
  );
  return { rest: { eventsExpiration: 0, ...own, kept } as unknown as RealmSettings, secrets };
}
