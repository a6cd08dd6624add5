import { uuid } from '../../core/index.ts';
import { ensureAlgorithmKey } from '../../crypto/index.ts';
import type { Client, Component, Realm } from '../../model/index.ts';
import type { Change, RealmConfiguration } from '../../store/index.ts';
import { findRightsByRealm, holdsMasterRole } from '../access/rights.ts';
import { applyChanges } from '../call/changes.ts';
import type { AdminContext, Caller, RealmCall } from '../call/context.ts';
import { type Pages, shown } from '../call/pages.ts';
import { badInput, badRequest, conflict, forbidden } from '../call/refusal.ts';
import { MASTER, managementClientId } from '../defaults/built-in-clients.ts';
import { createRealm, RealmConflict } from '../import/import-realm.ts';
import { checkRealm } from '../representation/check-realm.ts';
import { RepresentationFault } from '../representation/fault.ts';
import type { Json } from '../representation/json.ts';
import { MASK } from '../representation/secrets.ts';
import { keeping } from '../trash/keep.ts';
import { buildSettings } from './build-realm.ts';
import { NOT_IN_GET, realmRepresentation, reducedRealmRepresentation } from './realm-representation.ts';
import { checkRealmName, checkSettings, RealmNameFault } from './realm-settings.ts';

/**
 * Lists the realms in which the caller has an administrative role, sorted by name.
 *
 * @throws AdminRefusal 403 if there are none
 */
export async function listRealms(context: AdminContext, caller: Caller, brief: boolean): Promise<Pages> {
  const rights = await findRightsByRealm(context, caller);
  if (rights.size === 0) throw forbidden();
  const show = brief ? briefRealm : realmRepresentation;
  const pages = async function* () {
    for (const page of inPages([...rights])) {
      const visible = page.filter(([, found]) => found.has('viewRealm')).map(([name]) => name);
      const realms = await context.store.readRealms(visible, [...NOT_IN_GET]);
      yield page.flatMap(([name, found]): Json[] => {
        if (!found.has('viewRealm')) return [{ realm: name }];
        const realm = realms.get(name);
        return realm === undefined ? [] : [show(realm)];
      });
    }
  };
  return shown(pages(), (page) => page);
}

/** Number of realms that are read together. It takes a few milliseconds to parse them. */
const PAGE = 25;

function* inPages<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += PAGE) yield items.slice(from, from + PAGE);
}

function briefRealm({ realm }: Pick<RealmConfiguration, 'realm'>): Json {
  const { displayName, enabled } = realm.settings;
  return { id: realm.id, realm: realm.name, ...(displayName === undefined ? {} : { displayName }), enabled };
}

/** Returns the realm, or only the fields that the caller may see. @throws AdminRefusal 403 */
export function showRealm({ rights, configuration }: RealmCall): Json {
  if (rights.has('viewRealm')) return realmRepresentation(configuration);
  if (rights.any) return reducedRealmRepresentation(configuration);
  throw forbidden();
}

/** Creates a realm from its representation and returns its name. @throws AdminRefusal */
export async function addRealm(context: AdminContext, caller: Caller, body: () => unknown): Promise<string> {
  const given = await readRealm(body);
  const name = given['realm'];
  if (name === undefined || name === '') throw badRequest('Realm name cannot be empty');
  try {
    checkRealmName(name);
    if ((await context.store.findRealm(name as string)) !== undefined)
      throw conflict(`Realm ${name} already exists`);
    // As in Keycloak, a creator who does not administer all realms becomes an administrator of the new realm.
    const isAdmin = await holdsMasterRole(context, caller, 'admin');
    await createRealm(context, given, isAdmin ? undefined : caller.userId);
    return name as string;
  } catch (error) {
    if (error instanceof RealmConflict)
      throw error.conflict.on === 'realm.name'
        ? conflict(`Realm ${name} already exists`)
        : conflict('Duplicate resource error');
    if (error instanceof RealmNameFault)
      throw error.character === undefined ? badRequest(error.what) : badInput(error.what);
    if (error instanceof RepresentationFault) throw badRequest(error.message);
    throw error;
  }
}

/** Parses the body. Like Keycloak 26, refuses every invalid body with the same message. @throws AdminRefusal 400 */
async function readRealm(body: () => unknown): Promise<Json> {
  try {
    return await checkRealm(body());
  } catch {
    throw badRequest('unable to read contents from stream');
  }
}

/** Changes the given settings, and the name if it is given. Refuses to rename master. @throws AdminRefusal */
export async function updateRealm(call: RealmCall, given: Json): Promise<void> {
  const { context, configuration } = call;
  const { realm } = configuration;
  const name = given['realm'] === undefined ? realm.name : renamed(call, given['realm']);
  const next = mergeSettings(realm, checkSettings(given));
  const changes: Change[] = [
    { do: 'put', realm: { ...next, name } },
    ...(await algorithmKeys(context, next, configuration.components)),
    ...(name === realm.name
      ? []
      : [
          ...(await renameManagement(context, realm.name, name)),
          ...(await renameAddresses(context, realm, name)),
        ]),
  ];
  await applyChanges(
    call,
    changes,
    { operation: 'UPDATE', resource: 'REALM', path: '', representation: given },
    () => conflict('Realm with same name exists'),
  );
}

function renamed({ configuration }: RealmCall, wanted: unknown): string {
  const { name } = configuration.realm;
  if (wanted === name) return name;
  if (name === MASTER) throw badRequest("Can't rename master realm");
  try {
    return checkRealmName(wanted);
  } catch (error) {
    if (error instanceof RealmNameFault)
      throw error.character === undefined ? badRequest(error.what) : badInput(error.what);
    throw error;
  }
}

/** Finds the client of master that holds the administrative roles for a realm. */
export function findManagementClient(
  { store }: AdminContext,
  master: RealmConfiguration,
  realm: string,
): Promise<Client | undefined> {
  return store.findClient(master.realm.id, managementClientId(realm, MASTER));
}

async function renameManagement(context: AdminContext, from: string, to: string): Promise<Change[]> {
  const master = await context.store.findRealm(MASTER);
  if (master === undefined) return [];
  const client = await findManagementClient(context, master, from);
  if (client === undefined) return [];
  const put: Client = { ...client, clientId: managementClientId(to, MASTER), name: `${to} Realm` };
  return [{ do: 'put', client: put }];
}

/**
 * The built-in clients whose addresses contain the realm name: each client id, and the path segment before the name.
 */
export const ADDRESSED = [
  ['account', 'realms'],
  ['account-console', 'realms'],
  ['security-admin-console', 'admin'],
] as const;

/** Returns the changes that put the new realm name into the addresses of the account pages and the console. */
async function renameAddresses(context: AdminContext, { id, name }: Realm, to: string): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [clientId, below] of ADDRESSED) {
    const client = await context.store.findClient(id, clientId);
    if (client === undefined) continue;
    const rename = (address: string): string =>
      address.replace(`/${below}/${encodeURIComponent(name)}/`, `/${below}/${encodeURIComponent(to)}/`);
    const { baseUrl } = client;
    const put: Client = {
      ...client,
      redirectUris: client.redirectUris.map(rename),
      ...(baseUrl === undefined ? {} : { baseUrl: rename(baseUrl) }),
    };
    changes.push({ do: 'put', client: put });
  }
  return changes;
}

/** Applies the given fields to a realm. Masked secrets leave the stored secrets unchanged. */
function mergeSettings(realm: Realm, given: Json): Realm {
  const { rest, secrets } = buildSettings({ ...withoutNames(given) });
  const { kept, ...settings } = rest;
  const own = Object.fromEntries(Object.entries(settings).filter(([name]) => given[name] !== undefined));
  const replaced = Object.keys(kept);
  const keptSecrets = Object.fromEntries(
    Object.entries(realm.secrets).filter(([pointer]) => {
      const field = pointer.split('/')[1]!;
      return !replaced.includes(field) || secrets[pointer]?.reveal() === MASK;
    }),
  );
  const newSecrets = Object.fromEntries(
    Object.entries(secrets).filter(([, secret]) => secret.reveal() !== MASK),
  );
  return {
    ...realm,
    settings: { ...realm.settings, ...own, kept: { ...realm.settings.kept, ...kept } },
    secrets: { ...keptSecrets, ...newSecrets },
  };
}

/** Fields of a realm's representation that a PUT ignores, as in Keycloak 26. */
const NOT_CHANGED = [
  'identityProviders',
  'identityProviderMappers',
  'authenticationFlows',
  'authenticatorConfig',
];

function withoutNames(given: Json): Json {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !NOT_CHANGED.includes(name)));
}

/**
 * Returns the change that adds a key for the algorithm, if the realm has none. The key is published before it signs
 * anything.
 */
export async function algorithmKeys(
  context: AdminContext,
  realm: Pick<Realm, 'id' | 'name' | 'settings'>,
  components: readonly Component[],
  algorithm = realm.settings.defaultSignatureAlgorithm,
): Promise<Change[]> {
  const { clock, random } = context;
  const component = await ensureAlgorithmKey({
    realm: { id: realm.id, name: realm.name },
    components,
    algorithm,
    clock,
    random,
  });
  return component === undefined ? [] : [{ do: 'create', component }];
}

/**
 * Removes a realm with all its records, and the client of master that holds the realm's administrative roles. All of
 * them move to the bin as one entry.
 *
 * @param now erases them for good instead
 * @throws AdminRefusal for master
 */
export async function deleteRealm(call: RealmCall, now = false): Promise<void> {
  const { context, configuration } = call;
  const { realm } = configuration;
  if (realm.name === MASTER) throw badRequest("Can't remove master realm");
  const master = await context.store.findRealm(MASTER);
  const client = master && (await findManagementClient(context, master, realm.name));
  const kept = keeping(context, call.caller, now);
  const remove = { do: 'remove', what: 'realm', id: realm.id, ...kept } as const;
  const { keep } = kept;
  const withRealm =
    keep === undefined ? kept : { keep: { ...keep, id: uuid(context.random), ownerId: keep.id } };
  let applied = await context.store.apply([
    remove,
    // Removing the client also removes its roles from every role that includes them, such as the role `admin` of
    // master.
    ...(client === undefined
      ? []
      : [{ do: 'remove' as const, what: 'client' as const, id: client.id, ...withRealm }]),
  ]);
  // Another call has removed the client of master.
  if (applied.outcome === 'missing' && applied.what === 'client')
    applied = await context.store.apply([remove]);
  // The outcome `missing` means that another call has removed the realm.
  if (applied.outcome === 'conflict')
    throw new Error(`the realm cannot be removed because of a conflict: ${applied.on}`);
}

/** Ends all online sessions of the realm. Offline sessions continue. */
export async function logoutAll(call: RealmCall): Promise<Json> {
  const { context, configuration } = call;
  await context.store.endRealmSessions(configuration.realm.id);
  await applyChanges(call, [], { operation: 'ACTION', resource: 'REALM', path: 'logout-all' });
  return {};
}
