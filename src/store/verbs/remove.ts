import type { RowOf } from '../queries/compiled/types.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { KINDS, Refused } from './apply.ts';
import { all, get, type Steps, send } from './steps.ts';
import type { Touched } from './verbs.ts';

/**
 * Removes a record and the records that depend on it, most of them through foreign keys.
 *
 * @throws Refused
 */
export function* removeRecord(table: RecordTable, id: string, touched: Touched): Steps<void> {
  const row = yield* get(`${table}.byId`, { id });
  if (row === undefined) throw new Refused({ outcome: 'missing', what: KINDS[table], id });
  const realmId = 'realm_id' in row ? row.realm_id : id;
  switch (table) {
    case 'client':
      yield* removeOfClient({ id, realmId }, touched);
      touched.clients.push(id);
      break;
    case 'role':
      yield* forgetRole(realmId, id);
      touched.clientsOf.push(realmId);
      break;
    case 'client_scope':
      yield* forgetId('client', realmId, id, ['defaultClientScopeIds', 'optionalClientScopeIds']);
      touched.clientsOf.push(realmId);
      break;
    case 'realm_group':
      for (const child of yield* all('realm_group.children', { id }))
        yield* removeRecord('realm_group', child.id, touched);
      yield* send('user_group.deleteGroup', { group_id: id });
      break;
    case 'account':
      yield* send('failures.deleteUser', { user_id: id });
      break;
    case 'realm':
      touched.clientsOf.push(id);
      break;
    default:
      break;
  }
  if (table !== 'client' && table !== 'account' && table !== 'credential') touched.realms.push(realmId);
  yield* send(`${table}.delete`, { id });
}

function* removeOfClient({ id, realmId }: { id: string; realmId: string }, touched: Touched): Steps<void> {
  const roles = yield* all('role.ofClient', { client_uuid: id });
  for (const role of roles) {
    yield* forgetRole(realmId, role.id);
    yield* send('role.delete', { id: role.id });
  }
  if (roles.length > 0) {
    touched.realms.push(realmId);
    touched.clientsOf.push(realmId);
  }
  // Each step is a single statement, because a client may have millions of families.
  yield* send('session.touchOfClient', { client_uuid: id });
  yield* send('family.deleteOfClient', { client_uuid: id });
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

/** Removes a role from every record that refers to it. */
function* forgetRole(realmId: string, id: string): Steps<void> {
  yield* send('user_role.deleteRole', { role_id: id });
  yield* forgetId('role', realmId, id, ['compositeIds']);
  yield* forgetId('realm_group', realmId, id, ['roleIds']);
  yield* forgetId('client', realmId, id, ['scopeRoleIds']);
  yield* forgetId('client_scope', realmId, id, ['scopeRoleIds']);
}

function* forgetId(
  table: 'role' | 'realm_group' | 'client' | 'client_scope',
  realmId: string,
  id: string,
  lists: readonly string[],
): Steps<void> {
  for (const row of yield* all(`${table}.naming`, {
    realm_id: realmId,
    pattern: `%${JSON.stringify(id)}%`,
  })) {
    const doc: Record<string, unknown> = JSON.parse(row.doc);
    for (const list of lists) {
      const ids = doc[list];
      if (Array.isArray(ids)) doc[list] = ids.filter((other) => other !== id);
    }
    yield* send(`${table}.setDoc`, { id: row.id, doc: JSON.stringify(doc) });
  }
}
