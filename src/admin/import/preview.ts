import { isJsonObject } from '../../core/index.ts';
import type { Unenforced } from '../../model/index.ts';
import type { AdminContext, RealmCall } from '../call/context.ts';
import { buildRealm } from '../realm/build-realm.ts';
import { checkRealmName, checkSettings } from '../realm/realm-settings.ts';
import { checkRealm } from '../representation/check-realm.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { type Json, objects } from '../representation/json.ts';
import { checkSecrets, takeOutMissingSecrets } from '../representation/missing-secrets.ts';
import { listDemands } from './import-realm.ts';
import { countOutcomes, prepareImport, readIfExists } from './partial-import.ts';

/** What an import of a realm file would do. */
export interface RealmPreview {
  /** The name of the realm. Absent if the file has none. */
  realm?: string;
  /** The number of records of each kind that the import creates, built-in ones included. Absent if it is refused. */
  creates?: Readonly<Record<string, number>>;
  /** Why the import is refused. `path` is a JSON path. Empty if it is not refused. */
  refused: readonly { path: string; what: string }[];
  /** Settings that idkit does not enforce, and features that it does not have. */
  unenforced: readonly Unenforced[];
}

/**
 * Builds the realm of a file without storing it. Passwords in clear text are not hashed. A conflict of ids with another
 * realm is found only by the import itself.
 */
export async function previewRealm(context: AdminContext, body: unknown): Promise<RealmPreview> {
  let realm: string | undefined;
  try {
    const given = await checkRealm(body);
    realm = checkRealmName(given['realm']);
    const { taken } = takeOutMissingSecrets(given);
    const refused = taken.map(({ path, what, text }) => ({
      path,
      what:
        what === 'mask'
          ? `the file has a mask (${text}) instead of the secret`
          : `the file has a placeholder (${text}) instead of the secret`,
    }));
    if (await context.store.hasRealm(realm))
      refused.unshift({ path: '$.realm', what: `realm ${realm} exists already` });
    if (refused.length > 0) return { realm, refused, unenforced: [] };
    checkSecrets(given);
    const built = await buildRealm(checkSettings(withoutPasswords(given)), realm, context);
    const people = built.users.filter((user) => user.serviceAccountClientUuid === undefined);
    return {
      realm,
      creates: {
        users: people.length,
        groups: built.groups.length,
        roles: built.roles.length,
        clients: built.clients.length,
        clientScopes: built.scopes.length,
        components: built.components.length,
      },
      refused: [],
      unenforced: listDemands(built, people, context),
    };
  } catch (error) {
    if (!(error instanceof RepresentationFault)) throw error;
    return {
      ...(realm === undefined ? {} : { realm }),
      refused: [{ path: error.path, what: error.what }],
      unenforced: [],
    };
  }
}

/**
 * Returns what a partial import would add, skip and replace, without storing it. With `FAIL`, the records that exist
 * already are `refused`, and the import itself would store nothing.
 *
 * @throws AdminRefusal as the import
 */
export async function previewImport(call: RealmCall, body: unknown, refuse?: () => unknown): Promise<Json> {
  const given = isJsonObject(body) ? withoutPasswords(body) : body;
  const policy = isJsonObject(given) ? readIfExists(given) : 'FAIL';
  const { results } = await prepareImport(call, given, policy === 'FAIL' ? 'SKIP' : policy, refuse);
  const refused = policy === 'FAIL' ? results.filter(({ action }) => action === 'SKIPPED') : [];
  return {
    ...countOutcomes(results),
    results: results.map(({ action, resourceType, resourceName }) => ({
      action,
      resourceType,
      resourceName,
    })),
    refused: refused.map(({ resourceType, resourceName }) => ({ resourceType, resourceName })),
  };
}

/** Removes passwords in clear text, because each of them would be hashed. */
function withoutPasswords(given: Json): Json {
  if (!Array.isArray(given['users'])) return given;
  const users = objects(given['users']).map((user) => ({
    ...user,
    ...(Array.isArray(user['credentials'])
      ? { credentials: objects(user['credentials']).filter((one) => one['value'] === undefined) }
      : {}),
  }));
  return { ...given, users };
}
