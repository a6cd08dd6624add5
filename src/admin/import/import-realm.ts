import { IdkitError, untilApplied } from '../../core/index.ts';
import { listUnenforced, type Unenforced } from '../../model/index.ts';
import type { Change, Conflict } from '../../store/index.ts';
import type { AdminContext } from '../context.ts';
import { MASTER } from '../fresh/built-in-clients.ts';
import { checkRepresentation } from '../representations/check.ts';
import { RepresentationFault } from '../representations/fault.ts';
import type { Json } from '../representations/json.ts';
import { type BuiltRealm, buildRealm } from './build-realm.ts';
import { grantMasterAccess, inMasterAdminTurn } from './master-access.ts';
import { checkRealmName, checkSettings } from './realm-settings.ts';

/** Where a representation comes from. */
export interface ImportOptions {
  /** Names the file in messages. */
  source: string;
}

/** A realm that was imported. */
export interface ImportedRealm {
  realmId: string;
  realm: string;
  /** Without service accounts. */
  users: number;
  clients: number;
  /** What it asks for and idkit does not enforce yet. */
  unenforced: readonly Unenforced[];
}

/** A name or id of the new realm that is taken; nothing was stored. */
export class RealmConflict extends Error {
  override readonly name = 'RealmConflict';
  readonly conflict: Conflict;

  constructor(conflict: Conflict) {
    super(`${conflict.on} "${conflict.value}" is already taken`);
    this.conflict = conflict;
  }
}

/**
 * Imports a realm that does not exist yet from its representation, whole or in part, in one transaction. Users get
 * only the roles that they name; stored hashes and keys stay as they are.
 *
 * @throws IDKIT_IMPORT that names the file, the JSON path and what was expected; nothing was stored
 */
export async function importRealm(
  context: AdminContext,
  representation: unknown,
  { source }: ImportOptions,
): Promise<ImportedRealm> {
  try {
    return await createRealm(context, checkRepresentation('RealmRepresentation', representation));
  } catch (error) {
    if (error instanceof RepresentationFault || error instanceof RealmConflict)
      throw new IdkitError('IDKIT_IMPORT', `${source}: ${error.message}`, {
        hints: ['correct the file, or remove it from import/, and start again'],
      });
    throw error;
  }
}

/**
 * Makes a realm from a checked representation. Its creator, where one is named, may administer it.
 *
 * @throws RepresentationFault, RealmConflict; nothing was stored
 */
export async function createRealm(
  context: AdminContext,
  given: Json,
  creatorId?: string,
): Promise<ImportedRealm> {
  const name = checkRealmName(given['realm']);
  const built = await buildRealm(checkSettings(given), name, context);
  const store = async () => {
    const master = name === MASTER ? undefined : await context.store.findRealm(MASTER);
    return await context.store.apply([
      ...realmChanges(built),
      ...(master === undefined ? [] : grantMasterAccess(master, built.realm, context, creatorId)),
    ]);
  };
  const applied = await inMasterAdminTurn(context, () => untilApplied(store));
  if (applied.outcome === 'conflict') throw new RealmConflict(applied);
  if (applied.outcome === 'missing') throw new Error(`a new realm lacks its ${applied.what} ${applied.id}`);
  return {
    realmId: built.realm.id,
    realm: name,
    users: built.users.filter((user) => user.serviceAccountClientUuid === undefined).length,
    clients: built.clients.length,
    unenforced: listUnenforced(built, built.clients),
  };
}

/** Everything of a new realm as changes, in an order in which nothing is named before it is there. */
export function realmChanges(built: BuiltRealm): Change[] {
  return [
    { do: 'create', realm: built.realm },
    ...built.scopes.map((clientScope): Change => ({ do: 'create', clientScope })),
    ...built.clients.map((client): Change => ({ do: 'create', client })),
    ...built.roles.map((role): Change => ({ do: 'create', role })),
    ...built.groups.map((group): Change => ({ do: 'create', group })),
    ...built.components.map((component): Change => ({ do: 'create', component })),
    ...built.users.map((user): Change => ({ do: 'create', user })),
    ...built.credentials.map((credential): Change => ({ do: 'create', credential })),
    ...built.consents.map((consent): Change => ({ do: 'putConsent', consent })),
  ];
}
