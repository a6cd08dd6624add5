import type { RowOf } from '../queries/compiled/types.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { KINDS, Refused } from './apply.ts';
import { keepRecord, keepReference } from './keep.ts';
import { all, get, type Steps, send } from './steps.ts';
import type { TouchedRecords } from './touched.ts';

/**
 * Removes a record and the records that depend on it, most of them through foreign keys.
 *
 * @param trash the entry of the bin that keeps the removed records
 * @throws Refused
 */
export function* removeRecord(
  table: RecordTable,
  id: string,
  touched: TouchedRecords,
  trash?: string,
): Steps<void> {
  const row = yield* get(`${table}.byId`, { id });
  if (row === undefined) throw new Refused({ outcome: 'missing', what: KINDS[table], id });
  const realmId = 'realm_id' in row ? row.realm_id : id;
  if (trash !== undefined) yield* keepRecord(trash, table, id);
  switch (table) {
    case 'client':
      yield* removeOfClient({ id, realmId }, touched, trash);
      touched.client(realmId, id);
      // The service account of the client is removed too.
      touched.usersOf(realmId);
      break;
    case 'role':
      yield* forgetRoles(realmId, [id], touched);
      break;
    case 'client_scope':
      yield* forgetScope(realmId, id, touched);
      break;
    case 'realm_group':
      for (const child of yield* all('realm_group.children', { id }))
        yield* removeRecord('realm_group', child.id, touched, trash);
      yield* send('user_group.deleteGroup', { group_id: id });
      touched.usersOf(realmId);
      break;
    case 'account':
      yield* send('failures.delete', { realm_id: realmId, user_id: id });
      touched.user(realmId, id);
      break;
    case 'realm':
      touched.realm(id);
      touched.clientsOf(id);
      touched.usersOf(id);
      break;
    default:
      break;
  }
  if (table !== 'client' && table !== 'account' && table !== 'credential') touched.part(realmId, table, id);
  yield* send(`${table}.delete`, { id });
}

function* removeOfClient(
  { id, realmId }: { id: string; realmId: string },
  touched: TouchedRecords,
  trash: string | undefined,
): Steps<void> {
  const roles = yield* all('role.ofClient', { client_uuid: id });
  if (roles.length > 0)
    yield* forgetRoles(
      realmId,
      roles.map((role) => role.id),
      touched,
      trash,
    );
  for (const role of roles) {
    yield* send('role.delete', { id: role.id });
    touched.part(realmId, 'role', role.id);
  }
  // Each step is a single statement, because a client may have millions of families.
  yield* send('session.touchOfClient', { client_uuid: id });
  yield* send('family.deleteOfClient', { client_uuid: id });
  yield* send('unmoved.touchOfClient', { client_uuid: id });
  yield* send('unmoved.deleteOfClient', { client_uuid: id });
  yield* send('account.deleteOfClient', { client_uuid: id });
}

/** Removes a token family and stores its last use in the session. */
export function* removeFamilyRow(family: RowOf<'family.ofClientInSession'>): Steps<void> {
  yield* send('session.touch', {
    id: family.session_id,
    offline: family.offline,
    at: family.last_refresh_at,
  });
  yield* send('family.delete', family);
}

/** The lists of ids of roles in the documents of each table. */
const ROLE_LISTS = [
  ['role', 'compositeIds'],
  ['realm_group', 'roleIds'],
  ['client', 'scopeRoleIds'],
  ['client_scope', 'scopeRoleIds'],
] as const;

/** Removes roles from every record that refers to them. Each table is read once, no matter how many roles there are. */
function* forgetRoles(
  realmId: string,
  ids: readonly string[],
  touched: TouchedRecords,
  trash?: string,
): Steps<void> {
  for (const id of ids) yield* send('user_role.deleteRole', { role_id: id });
  touched.usersOf(realmId);
  const gone = new Set(ids);
  for (const [table, list] of ROLE_LISTS)
    for (const row of yield* all(`${table}.including`, { realm_id: realmId, ids: JSON.stringify(ids) })) {
      if (trash !== undefined && !gone.has(row.id)) {
        const listed = listOf(row.doc, list).filter((id) => gone.has(id));
        if (listed.length > 0) yield* keepReference(trash, { table, id: row.id, list, ids: listed });
      }
      yield* send(`${table}.setDoc`, { id: row.id, doc: without(row.doc, [list], gone) });
      if (table === 'client') touched.client(realmId, row.id);
      else touched.part(realmId, table, row.id);
    }
}

/** Removes a client scope from every client that refers to it. */
function* forgetScope(realmId: string, id: string, touched: TouchedRecords): Steps<void> {
  const pattern = `%${JSON.stringify(id)}%`;
  for (const row of yield* all('client.naming', { realm_id: realmId, pattern })) {
    const doc = without(row.doc, ['defaultClientScopeIds', 'optionalClientScopeIds'], new Set([id]));
    yield* send('client.setDoc', { id: row.id, doc });
    touched.client(realmId, row.id);
  }
}

function listOf(text: string, list: string): readonly string[] {
  const ids: unknown = JSON.parse(text)[list];
  return Array.isArray(ids) ? ids : [];
}

/** Returns a JSON document whose lists do not contain the ids. */
function without(text: string, lists: readonly string[], gone: ReadonlySet<unknown>): string {
  const doc: Record<string, unknown> = JSON.parse(text);
  for (const list of lists) {
    const ids = doc[list];
    if (Array.isArray(ids)) doc[list] = ids.filter((id) => !gone.has(id));
  }
  return JSON.stringify(doc);
}
