import { Slices } from '../../core/index.ts';
import { type Client, type ClientScope, REVISION } from '../../model/index.ts';
import type { Change } from '../../store/index.ts';
import { holdsAdminRoles } from '../access/admin-roles.ts';
import { mayActAs } from '../access/administrators.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { badInput, conflict, duplicateResource, forbidden, notFound } from '../call/refusal.ts';
import { BUILT_IN_CLIENT_IDS } from '../defaults/built-in-clients.ts';
import { algorithmKeys } from '../realm/realms.ts';
import type { Json } from '../representation/json.ts';
import { checkClientSecrets, withoutMaskedSecrets } from '../representation/missing-secrets.ts';
import { Names } from '../representation/names.ts';
import { MASK } from '../representation/secrets.ts';
import { keeping } from '../trash/keep.ts';
import { newServiceAccount } from '../user/build-users.ts';
import { representUser } from '../user/users.ts';
import { buildClient, newClientSecret } from './build-client.ts';
import { clientRepresentation } from './client-representation.ts';

/** @throws AdminRefusal 404, or 403 if the caller may not know which clients exist */
export async function getClient(call: RealmCall, uuid: string): Promise<Client> {
  const client = await call.context.store.findClientByUuid(call.configuration.realm.id, uuid);
  if (client !== undefined) return client;
  call.rights.check('queryClients');
  throw notFound('Could not find client');
}

/**
 * Returns a client's representation, with the caller's rights to it as `access`. As in Keycloak 26.8, only callers who
 * may change the client see its secrets.
 */
export async function showClient(call: RealmCall, client: Client): Promise<Json> {
  const manage = call.rights.has('manageClients');
  const shown = manage && (await mayActAs(call, client)) ? 'clear' : 'masked';
  return {
    ...clientRepresentation(call.configuration, client, shown),
    access: { view: true, configure: manage, manage },
  };
}

/** Lists the clients that match. A caller who has only `query-clients` gets an empty list. */
export async function listClients(
  call: RealmCall,
  query: { clientId?: string; search?: string; first?: number; max?: number },
): Promise<readonly Json[]> {
  if (!call.rights.has('viewClients')) return [];
  const clients = await call.context.store.listClients({ ...query, realmId: call.configuration.realm.id });
  const slices = new Slices();
  const shown: Json[] = [];
  for (const client of clients) {
    if (slices.isOver) await slices.pause();
    shown.push(await showClient(call, client));
  }
  return shown;
}

function namesOf({ configuration }: RealmCall): Names {
  // A client refers only to client scopes by name. A realm can have tens of thousands of roles and groups.
  return Names.of({ ...configuration, roles: new Map(), groups: new Map() }, [], () => '');
}

/** Attributes of a client that contain a signature algorithm. */
const ALGORITHM_ATTRIBUTES = [
  'access.token.signed.response.alg',
  'id.token.signed.response.alg',
  'user.info.response.signature.alg',
];

async function keysFor(call: RealmCall, client: Client): Promise<Change[]> {
  const { realm, components } = call.configuration;
  const wanted = new Set(ALGORITHM_ATTRIBUTES.flatMap((name) => client.attributes[name] ?? []));
  const changes: Change[] = [];
  for (const algorithm of wanted)
    changes.push(...(await algorithmKeys(call.context, realm, components, algorithm)));
  return changes;
}

/** Creates a client, with its service account if that is enabled, and returns its UUID. */
export async function createClient(call: RealmCall, given: Json): Promise<string> {
  checkClientSecrets(given, '$');
  const { context, configuration } = call;
  const { realm } = configuration;
  const client = buildClient(given, { context, realmId: realm.id, names: namesOf(call), path: '$' });
  checkClientName(call, '', client.clientId);
  await applyChanges(
    call,
    [
      { do: 'create', client },
      ...(client.serviceAccountsEnabled
        ? [{ do: 'create' as const, user: newServiceAccount(client, realm.defaultRoleId, context) }]
        : []),
      ...(await keysFor(call, client)),
    ],
    { operation: 'CREATE', resource: 'CLIENT', path: `clients/${client.id}`, representation: given },
    (taken) =>
      taken.on.startsWith('client.')
        ? conflict(`Client ${client.clientId} already exists`)
        : duplicateResource(),
  );
  return client.id;
}

/** Changes the given fields of a client. A masked secret leaves the stored secret unchanged. */
export async function updateClient(call: RealmCall, uuid: string, sent: Json): Promise<void> {
  const before = await getClient(call, uuid);
  const given = withoutMaskedSecrets(sent);
  checkClientSecrets(given, '$');
  const { context, configuration } = call;
  const merged: Json = {
    ...clientRepresentation(configuration, before),
    ...(before.secrets['/secret'] === undefined ? {} : { secret: before.secrets['/secret'].reveal() }),
    ...given,
    attributes: { ...before.attributes, ...(given['attributes'] as Json | undefined) },
    id: uuid,
  };
  const built = buildClient(merged, {
    context,
    realmId: before.realmId,
    names: namesOf(call),
    path: '$',
  });
  const client: Client = {
    ...built,
    [REVISION]: before[REVISION]!,
    scopeRoleIds: before.scopeRoleIds,
    secrets: { ...before.secrets, ...built.secrets },
  };
  checkClientName(call, before.clientId, client.clientId);
  await applyChanges(
    call,
    [
      { do: 'put', client },
      ...(await serviceAccountChanges(call, before, client)),
      ...(await keysFor(call, client)),
    ],
    { operation: 'UPDATE', resource: 'CLIENT', path: `clients/${uuid}`, representation: given },
    duplicateResource,
  );
}

async function serviceAccountChanges(call: RealmCall, before: Client, client: Client): Promise<Change[]> {
  if (before.serviceAccountsEnabled === client.serviceAccountsEnabled) return [];
  const { context, configuration } = call;
  const account = await context.store.findServiceAccount(client.id);
  if (client.serviceAccountsEnabled && account === undefined)
    return [{ do: 'create', user: newServiceAccount(client, configuration.realm.defaultRoleId, context) }];
  if (!client.serviceAccountsEnabled && account !== undefined)
    return [{ do: 'remove', what: 'user', id: account.id }];
  return [];
}

/**
 * Removes a client with its roles and service account. The client moves to the bin.
 *
 * @param now erases the client for good instead
 * @throws AdminRefusal for a built-in client
 */
export async function deleteClient(call: RealmCall, uuid: string, now = false): Promise<void> {
  const client = await getClient(call, uuid);
  const { realm } = call.configuration;
  if (holdsAdminRoles(realm.name, client.clientId)) throw forbidden();
  if (BUILT_IN_CLIENT_IDS.has(client.clientId)) throw badInput('invalid_request', 'Could not delete client');
  const remove = { do: 'remove', what: 'client', id: uuid } as const;
  await applyChanges(call, [{ ...remove, ...keeping(call.context, call.caller, now) }], {
    operation: 'DELETE',
    resource: 'CLIENT',
    path: now ? `clients/${uuid}?now=true` : `clients/${uuid}`,
    representation: { clientId: client.clientId },
  });
}

/**
 * Checks a change of a client id. Administrative roles belong to a client with a fixed client id. Only callers who may
 * grant all of these roles may give a client this id, or rename the client that has it.
 *
 * @throws AdminRefusal 403
 */
export function checkClientName({ rights, configuration }: RealmCall, before: string, after: string): void {
  if (before === after || rights.grantsAdminRoles) return;
  const { name } = configuration.realm;
  if (holdsAdminRoles(name, before) || holdsAdminRoles(name, after)) throw forbidden();
}

/** Returns the secret of a client, masked for callers who may not change it. */
export async function showSecret(call: RealmCall, uuid: string): Promise<Json> {
  const client = await getClient(call, uuid);
  return await masked(call, client, secretRepresentation(client));
}

async function masked(call: RealmCall, client: Client, secret: Json): Promise<Json> {
  if (secret['value'] === undefined) return secret;
  const clear = call.rights.has('manageClients') && (await mayActAs(call, client));
  return clear ? secret : { ...secret, value: MASK };
}

function secretRepresentation(client: Client): Json {
  const secret = client.publicClient ? undefined : client.secrets['/secret'];
  return { type: 'secret', ...(secret === undefined ? {} : { value: secret.reveal() }) };
}

/** Generates a new secret for a client and returns it. */
export async function renewSecret(call: RealmCall, uuid: string): Promise<Json> {
  const before = await getClient(call, uuid);
  const client: Client = {
    ...before,
    attributes: {
      ...before.attributes,
      'client.secret.creation.time': String(Math.floor(call.context.clock.now() / 1000)),
    },
    secrets: { ...before.secrets, '/secret': newClientSecret() },
  };
  await applyChanges(call, [{ do: 'put', client }], {
    operation: 'ACTION',
    resource: 'CLIENT',
    path: `clients/${uuid}/client-secret`,
  });
  return secretRepresentation(client);
}

/** Returns the secret that the last rotation replaced. @throws AdminRefusal 404 if there is none */
export async function showRotatedSecret(call: RealmCall, uuid: string): Promise<Json> {
  const client = await getClient(call, uuid);
  const secret = client.secrets['/attributes/client.secret.rotated'];
  if (secret === undefined) throw notFound('Client does not have a rotated secret');
  return await masked(call, client, { type: 'secret', value: secret.reveal() });
}

/** Returns the user of the client's service account. @throws AdminRefusal 400 if the client has none */
export async function showServiceAccount(call: RealmCall, uuid: string): Promise<Json> {
  const client = await getClient(call, uuid);
  const user = client.serviceAccountsEnabled ? await call.context.store.findServiceAccount(uuid) : undefined;
  if (user === undefined) throw badInput(`Service account not enabled for the client '${client.clientId}'`);
  return await representUser(call, user);
}

/** One of the two lists of scopes of a client. */
export type ScopeList = 'default' | 'optional';

const LISTS = { default: 'defaultClientScopeIds', optional: 'optionalClientScopeIds' } as const;

/** Lists the scopes of a client as `{id, name}`. */
export async function listClientScopesOf(call: RealmCall, uuid: string, list: ScopeList): Promise<Json[]> {
  const client = await getClient(call, uuid);
  return client[LISTS[list]].flatMap((id) => {
    const scope = call.configuration.clientScopes.get(id);
    return scope === undefined ? [] : [{ id, name: scope.name }];
  });
}

function getScope({ configuration }: RealmCall, id: string): ClientScope {
  const scope = configuration.clientScopes.get(id);
  if (scope === undefined) throw notFound('Client scope not found');
  return scope;
}

/** Adds a scope to one list of a client, or removes it from the list. */
export async function changeClientScope(
  call: RealmCall,
  uuid: string,
  list: ScopeList,
  scopeId: string,
  how: 'add' | 'remove',
): Promise<void> {
  const before = await getClient(call, uuid);
  const { id } = getScope(call, scopeId);
  const without = (ids: readonly string[]) => ids.filter((one) => one !== id);
  const other = list === 'default' ? LISTS.optional : LISTS.default;
  const client: Client = {
    ...before,
    ...(how === 'add' ? { [other]: without(before[other]) } : {}),
    [LISTS[list]]: [...without(before[LISTS[list]]), ...(how === 'add' ? [id] : [])],
  };
  await applyChanges(call, [{ do: 'put', client }], {
    operation: how === 'add' ? 'CREATE' : 'DELETE',
    resource: 'CLIENT',
    path: `clients/${uuid}/${list}-client-scopes/${id}`,
  });
}
