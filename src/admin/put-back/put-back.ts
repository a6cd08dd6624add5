import { isJsonObject } from '../../core/index.ts';
import type { Client, Group, Role } from '../../model/index.ts';
import type { Change, Conflict } from '../../store/index.ts';
import { checkGrants, checkGroupGrants, checkNoAdminRole, withNewRecords } from '../access/admin-roles.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { AdminRefusal, badRequest } from '../call/refusal.ts';
import { checkRealm } from '../representation/check-realm.ts';
import { type Json, objects, strings } from '../representation/json.ts';
import type { Names } from '../representation/names.ts';
import { putBackClients, putBackRoles, putBackScopeMappings } from './client-records.ts';
import { addComposites, addMembers } from './links.ts';
import { KnownNames, type Resolved, readReferences, resolveReferences } from './references.ts';
import { putBackGroups, putBackUsers } from './user-records.ts';

/** What happens to one record. `kept`: it exists and stays unchanged. */
export interface PutBackOutcome {
  action: 'created' | 'changed' | 'kept';
  kind: 'user' | 'client' | 'group' | 'role' | 'serviceAccount' | 'membership' | 'roleMapping' | 'composite';
  name: string;
  id: string;
}

/** Another record has the name or id of a record of the backup. */
export interface Clash {
  kind: PutBackOutcome['kind'];
  name: string;
  /** What clashes, and what the operator can do. */
  what: string;
}

/** A put-back in progress. */
export interface PutBackWork {
  call: RealmCall;
  overwrite: boolean;
  resolved: Resolved;
  names: Names;
  known: KnownNames;
  clients: readonly Client[];
  changes: Change[];
  outcomes: PutBackOutcome[];
  clashes: Clash[];
  notes: string[];
  /** Records that this call creates, because later checks and names depend on them. */
  created: { clients: Map<string, Client>; roles: Map<string, Role>; groups: Map<string, Group> };
  /** Roles and groups that the call grants. */
  granted: { roleIds: string[]; groupIds: string[] };
  /** Unix time in seconds. Tokens that a restored record got before are invalid. */
  notBefore: number;
}

export interface PutBackOptions {
  /** Returns the plan and stores nothing. */
  dryRun: boolean;
  /** Also returns existing records with the same ids to their state in the backup. Default: keeps them. */
  overwrite: boolean;
}

/**
 * Puts records of a backup back into a realm in one transaction, with their ids, credentials, roles and memberships.
 * See docs/operate/put-back.md. The caller needs the rights to create each record and to grant each of its roles.
 *
 * @throws AdminRefusal 403; 409 with the clashes if another record has the name or id of one, and nothing is stored
 */
export async function putBack(call: RealmCall, body: unknown, options: PutBackOptions): Promise<Json> {
  if (!isJsonObject(body) || !isJsonObject(body['records']))
    throw badRequest('the body must be an object with records');
  const records = await checkRealm(body['records']);
  checkRights(call, records, body);
  const { context, configuration } = call;
  const clients = await context.store.listClients({ realmId: configuration.realm.id });
  const resolved = await resolveReferences(call, readReferences(body['references']), clients);
  const work: PutBackWork = {
    call,
    overwrite: options.overwrite,
    resolved,
    names: resolved.names,
    known: new KnownNames(resolved),
    clients,
    changes: [],
    outcomes: [],
    clashes: [],
    notes: resolved.notes,
    created: { clients: new Map(), roles: new Map(), groups: new Map() },
    granted: { roleIds: [], groupIds: [] },
    notBefore: Math.floor(context.clock.now() / 1000),
  };
  await putBackClients(work, objects(records['clients']));
  await putBackRoles(work, (records['roles'] ?? {}) as Json);
  await putBackScopeMappings(work, records);
  await putBackGroups(work, objects(records['groups']), strings(records['defaultGroups']));
  await putBackUsers(work, objects(records['users']));
  addComposites(work, objects(body['composites']));
  await addMembers(work, objects(body['members']));
  await checkAuthority(work);
  const { outcomes, clashes, notes } = work;
  const plan = { results: outcomes, clashes, notes };
  if (options.dryRun) return plan;
  if (clashes.length > 0)
    throw new AdminRefusal('conflict', { errorMessage: clashes.map(({ what }) => what).join('; '), clashes });
  if (work.changes.length > 0) await store(work);
  return plan;
}

async function store({ call, changes, outcomes }: PutBackWork): Promise<void> {
  const { turns: _none, ...unchecked } = call;
  // As with a partial import, the store rejects the change if another call has changed one of the records.
  await applyChanges(
    unchecked,
    changes,
    { operation: 'CREATE', resource: 'REALM', path: 'put-back', representation: outcomes },
    taken,
  );
}

/** Checks the rights that the caller would need for each kind of record. @throws AdminRefusal 403 */
function checkRights({ rights }: RealmCall, records: Json, body: Json): void {
  const { realm, client } = (records['roles'] ?? {}) as Json;
  const accounts = objects(records['users']).some((user) => user['serviceAccountClientId'] !== undefined);
  const touchesClients =
    accounts ||
    [records['clients'], records['scopeMappings']].some((list) => objects(list).length > 0) ||
    [client, records['clientScopeMappings']].some((map) => Object.keys((map ?? {}) as Json).length > 0);
  const composites = objects(body['composites']);
  if (touchesClients) rights.check('manageClients');
  if (objects(realm).length > 0 || composites.some(({ groupId }) => groupId === undefined))
    rights.check('manageRealm');
  if (composites.some(({ clientId }) => clientId !== undefined)) rights.check('manageClients');
  const touchesUsers =
    objects(records['users']).some((user) => user['serviceAccountClientId'] === undefined) ||
    objects(records['groups']).length > 0 ||
    objects(body['members']).length > 0 ||
    composites.some(({ groupId }) => groupId !== undefined);
  if (touchesUsers) rights.check('manageUsers');
}

/**
 * Checks that the caller may grant every role that the records have, and may create every role. New records count as if
 * they existed already, because a new role of an administrative client is an administrative role.
 *
 * @throws AdminRefusal 403
 */
async function checkAuthority({ call, created, granted }: PutBackWork): Promise<void> {
  const after = withNewRecords(call, created);
  for (const role of created.roles.values()) await checkNoAdminRole(after, role);
  await checkGrants(after, granted.roleIds);
  await checkGroupGrants(after, granted.groupIds);
}

function taken({ on, value }: Conflict): AdminRefusal {
  return new AdminRefusal('conflict', {
    errorMessage: `${on.replace('.', ' ')} ${value} exists already, in this realm or in another one`,
  });
}
