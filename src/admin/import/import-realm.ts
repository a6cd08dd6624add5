import { IdkitError, untilApplied } from '../../core/index.ts';
import {
  listNotBuilt,
  listUnenforced,
  type Unenforced,
  type User,
  type WaitingUsers,
} from '../../model/index.ts';
import type { Change, Conflict } from '../../store/index.ts';
import type { AdminContext, Progress } from '../call/context.ts';
import { MASTER } from '../defaults/built-in-clients.ts';
import { grantMasterAccess, inMasterAdminTurn } from '../master/master-access.ts';
import { type BuiltRealm, buildRealm } from '../realm/build-realm.ts';
import { checkRealmName, checkSettings } from '../realm/realm-settings.ts';
import { checkRealm } from '../representation/check-realm.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { type Json, objects } from '../representation/json.ts';
import {
  checkSecrets,
  type MissingSecret,
  MissingSecretFault,
  takeOutMissingSecrets,
} from '../representation/missing-secrets.ts';

export interface ImportOptions {
  /**
   * The path of the file, for messages. If the realm is in several files, a function that returns the file that
   * contains a given JSON path.
   */
  source: string | ((path: string) => string);
  /**
   * Whether to generate secrets for masks and unresolved placeholders in the file. Default: false, which rejects such a
   * file.
   */
  newSecrets?: boolean;
  progress?: Progress;
}

export interface ImportedRealm {
  realmId: string;
  realm: string;
  /** Without service accounts. */
  users: number;
  clients: number;
  /** Settings that idkit does not enforce, and features that it does not have. */
  unenforced: readonly Unenforced[];
}

export interface ImportedFile extends ImportedRealm {
  /** Whether the file contains neither clients nor users. */
  bare: boolean;
  /** Generated secrets that replace masks and unresolved placeholders of the file. */
  newSecrets: readonly MissingSecret[];
}

/** A name or id of the new realm exists already, and nothing was stored. */
export class RealmConflict extends Error {
  override readonly name = 'RealmConflict';
  readonly conflict: Conflict;

  constructor(conflict: Conflict) {
    super(`${conflict.on} "${conflict.value}" exists already`);
    this.conflict = conflict;
  }
}

/**
 * Imports a new realm from its complete or partial representation, in one transaction. Users get only the roles that
 * the representation lists. Password hashes and keys stay unchanged.
 *
 * @throws IDKIT_IMPORT with the file, the JSON path and the expected value; nothing was stored
 */
export async function importRealm(
  context: AdminContext,
  representation: unknown,
  { source, newSecrets = false, progress }: ImportOptions,
): Promise<ImportedFile> {
  try {
    const checked = await checkRealm(representation, progress);
    const { rest, taken } = newSecrets ? takeOutMissingSecrets(checked) : { rest: checked, taken: [] };
    const imported = await createRealm(context, rest, undefined, progress);
    const bare = objects(rest['clients']).length === 0 && objects(rest['users']).length === 0;
    return { ...imported, bare, newSecrets: taken };
  } catch (error) {
    if (!(error instanceof RepresentationFault || error instanceof RealmConflict)) throw error;
    const path = error instanceof RepresentationFault ? error.path : '$';
    const file = typeof source === 'string' ? source : source(path);
    const hints =
      error instanceof MissingSecretFault
        ? [
            'set the environment variable of the placeholder, or write the secret into the file',
            'or start serve with --new-secrets, which generates the missing secrets',
          ]
        : ['correct the file, or remove it from import/, and start again'];
    throw new IdkitError('IDKIT_IMPORT', `${file}: ${error.message}`, { hints });
  }
}

/**
 * Creates a realm from a checked representation. With `creatorId`, that user may administer the realm.
 *
 * @throws RepresentationFault, RealmConflict; nothing was stored
 */
export async function createRealm(
  context: AdminContext,
  given: Json,
  creatorId?: string,
  progress?: Progress,
): Promise<ImportedRealm> {
  const name = checkRealmName(given['realm']);
  checkSecrets(given);
  const built = await buildRealm(checkSettings(given), name, context, progress);
  const people = built.users.filter((user) => user.serviceAccountClientUuid === undefined);
  await progress?.({ phase: 'stored', done: 0, total: people.length });
  const store = async () => {
    const master = name === MASTER ? undefined : await context.store.findRealm(MASTER);
    return await context.store.apply([
      ...realmChanges(built),
      ...(master === undefined ? [] : await grantMasterAccess(master, built.realm, context, creatorId)),
    ]);
  };
  const applied = await inMasterAdminTurn(context, () => untilApplied(store));
  if (applied.outcome === 'conflict') throw new RealmConflict(applied);
  if (applied.outcome === 'missing')
    throw new Error(`the new realm does not contain its ${applied.what} ${applied.id}`);
  return {
    realmId: built.realm.id,
    realm: name,
    users: people.length,
    clients: built.clients.length,
    unenforced: listDemands(built, people, context),
  };
}

/** Lists the settings of a new realm that idkit does not enforce, and the features that it does not have. */
export function listDemands(
  built: BuiltRealm,
  people: readonly User[],
  context: AdminContext,
): readonly Unenforced[] {
  return [
    ...listUnenforced(built, built.clients),
    ...listNotBuilt(built.realm.settings, countWaiting(people), context.requiredActions),
  ];
}

function countWaiting(users: readonly User[]): WaitingUsers {
  const requiredActions = new Map<string, number>();
  let unverified = 0;
  for (const user of users.filter(({ enabled }) => enabled)) {
    if (!user.emailVerified) unverified += 1;
    for (const action of user.requiredActions)
      requiredActions.set(action, (requiredActions.get(action) ?? 0) + 1);
  }
  return { requiredActions, unverified };
}

/** Returns the records of a new realm as changes, each after the records that it refers to. */
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
