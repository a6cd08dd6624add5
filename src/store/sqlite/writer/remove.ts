import type { RecordTable } from '../../queries/configuration.ts';
import type { Touched } from '../messages.ts';
import type { Row, Statements } from '../statements.ts';
import { KINDS, Refused } from './apply.ts';

/** Removes a record and what belongs to it; foreign keys take the rest. @throws Refused */
export function removeRecord(sql: Statements, table: RecordTable, id: string, touched: Touched): void {
  const row = sql.get(`${table}.byId`, { id });
  if (row === undefined) throw new Refused({ outcome: 'missing', what: KINDS[table], id });
  const realmId = table === 'realm' ? id : String(row['realm_id'] ?? '');
  switch (table) {
    case 'client':
      removeOfClient(sql, row, touched);
      touched.clients.push(id);
      break;
    case 'role':
      forgetRole(sql, realmId, id);
      touched.clientsOf.push(realmId);
      break;
    case 'client_scope':
      forgetId(sql, 'client', realmId, id, ['defaultClientScopeIds', 'optionalClientScopeIds']);
      touched.clientsOf.push(realmId);
      break;
    case 'realm_group':
      for (const child of sql.all('realm_group.children', { id }))
        removeRecord(sql, 'realm_group', String(child['id']), touched);
      sql.run('user_group.deleteGroup', { group_id: id });
      break;
    case 'account':
      sql.run('failures.deleteUser', { user_id: id });
      break;
    case 'realm':
      touched.clientsOf.push(id);
      break;
    default:
      break;
  }
  if (table !== 'client' && table !== 'account' && table !== 'credential') touched.realms.push(realmId);
  sql.run(`${table}.delete`, { id });
}

function removeOfClient(sql: Statements, client: Row, touched: Touched): void {
  const id = String(client['id']);
  const realmId = String(client['realm_id']);
  const roles = sql.all('role.ofClient', { client_uuid: id });
  for (const role of roles) {
    forgetRole(sql, realmId, String(role['id']));
    sql.run('role.delete', { id: role['id'] });
  }
  if (roles.length > 0) {
    touched.realms.push(realmId);
    touched.clientsOf.push(realmId);
  }
  for (const family of sql.all('family.ofClient', { client_uuid: id })) removeFamilyRow(sql, family);
  sql.run('account.deleteOfClient', { client_uuid: id });
}

/** Removes a family; its session keeps the time of the family's last use. */
export function removeFamilyRow(sql: Statements, family: Row): void {
  sql.run('session.touch', {
    id: family['session_id'],
    offline: family['offline'],
    at: family['last_refresh_at'],
  });
  sql.run('family.delete', { id: family['id'] });
}

/** Takes a role out of all that names it. */
function forgetRole(sql: Statements, realmId: string, id: string): void {
  sql.run('user_role.deleteRole', { role_id: id });
  forgetId(sql, 'role', realmId, id, ['compositeIds']);
  forgetId(sql, 'realm_group', realmId, id, ['roleIds']);
  forgetId(sql, 'client', realmId, id, ['scopeRoleIds']);
  forgetId(sql, 'client_scope', realmId, id, ['scopeRoleIds']);
}

function forgetId(
  sql: Statements,
  table: 'role' | 'realm_group' | 'client' | 'client_scope',
  realmId: string,
  id: string,
  lists: readonly string[],
): void {
  for (const row of sql.all(`${table}.naming`, { realm_id: realmId, pattern: `%${JSON.stringify(id)}%` })) {
    const doc = JSON.parse(String(row['doc'])) as Record<string, unknown>;
    for (const list of lists) {
      const ids = doc[list];
      if (Array.isArray(ids)) doc[list] = ids.filter((other) => other !== id);
    }
    sql.run(`${table}.setDoc`, { id: row['id'], doc: JSON.stringify(doc) });
  }
}
