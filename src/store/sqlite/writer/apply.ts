import type { Conflict, Missing } from '../../contract.ts';
import type { RecordTable } from '../../queries/configuration.ts';
import type { AppliedRows, RowChange, Touched } from '../messages.ts';
import type { Statements } from '../statements.ts';
import { endUserSessions } from './login.ts';
import { removeRecord } from './remove.ts';

type WriteChange = Extract<RowChange, { table: RecordTable; row: unknown }>;
type Kind = Missing['what'];

/** The model's names of the tables. */
export const KINDS: Record<RecordTable, Kind> = {
  realm: 'realm',
  client: 'client',
  client_scope: 'clientScope',
  role: 'role',
  realm_group: 'group',
  component: 'component',
  account: 'user',
  credential: 'credential',
};

/** Thrown to roll the list back with its answer. */
export class Refused extends Error {
  readonly answer: Conflict | Missing;
  constructor(answer: Conflict | Missing) {
    super(answer.outcome);
    this.answer = answer;
  }
}

/** Does the whole list or throws; the caller holds a savepoint. @throws Refused */
export function applyChanges(sql: Statements, changes: readonly RowChange[]): AppliedRows {
  const touched: Touched = { realms: [], clients: [], clientsOf: [] };
  for (const change of changes) applyChange(sql, change, touched);
  return { outcome: 'applied', touched };
}

function applyChange(sql: Statements, change: RowChange, touched: Touched): void {
  switch (change.do) {
    case 'create':
    case 'put':
      writeRecord(sql, change, touched);
      return;
    case 'remove':
      removeRecord(sql, change.table, change.id, touched);
      return;
    case 'assign':
    case 'unassign':
      mustExist(sql, 'account', change.userId);
      for (const roleId of change.roleIds) {
        if (change.do === 'assign') mustExist(sql, 'role', roleId);
        sql.run(change.do === 'assign' ? 'user_role.add' : 'user_role.delete', {
          user_id: change.userId,
          role_id: roleId,
        });
      }
      return;
    case 'join':
    case 'leave':
      mustExist(sql, 'account', change.userId);
      if (change.do === 'join') mustExist(sql, 'realm_group', change.groupId);
      sql.run(change.do === 'join' ? 'user_group.add' : 'user_group.delete', {
        user_id: change.userId,
        group_id: change.groupId,
      });
      return;
    case 'endSessions':
      endUserSessions(sql, { user_id: change.userId, offline: change.offlineToo ? 1 : 0 });
      return;
    case 'putConsent':
      mustExist(sql, 'account', change.row.user_id);
      mustExist(sql, 'client', change.row.client_uuid);
      sql.run('consent.put', { ...change.row });
      return;
    case 'record':
      if (sql.get('realm.byId', { id: change.row['realm_id'] }) !== undefined)
        sql.run('admin_event.insert', change.row);
      return;
  }
}

/** @throws Refused */
function mustExist(sql: Statements, table: RecordTable, id: string): void {
  if (sql.get(`${table}.byId`, { id }) === undefined)
    throw new Refused({ outcome: 'missing', what: KINDS[table], id });
}

function writeRecord(sql: Statements, change: WriteChange, touched: Touched): void {
  const { table, row } = change;
  const previous = sql.get(`${table}.byId`, { id: row.id });
  if (change.do === 'create' && previous !== undefined)
    throw new Refused({ outcome: 'conflict', on: `${KINDS[table]}.id` as Conflict['on'], value: row.id });
  if (change.do === 'put' && previous === undefined)
    throw new Refused({ outcome: 'missing', what: KINDS[table], id: row.id });
  if (typeof row['realm_id'] === 'string') mustExist(sql, 'realm', row['realm_id']);
  if (table === 'credential') mustExist(sql, 'account', String(row['user_id']));
  checkNamesFree(sql, table, row);
  sql.run(`${table}.${change.do === 'create' ? 'insert' : 'update'}`, row);
  if (table === 'account') writeAssignments(sql, change);
  touch(touched, table, row);
}

function writeAssignments(sql: Statements, change: WriteChange): void {
  const user = { user_id: change.row.id };
  if (change.do === 'put') {
    sql.run('user_role.clear', user);
    sql.run('user_group.clear', user);
  }
  for (const roleId of change.roleIds ?? []) sql.run('user_role.add', { ...user, role_id: roleId });
  for (const groupId of change.groupIds ?? []) sql.run('user_group.add', { ...user, group_id: groupId });
}

function touch(touched: Touched, table: RecordTable, row: WriteChange['row']): void {
  if (table === 'client') touched.clients.push(row.id);
  else if (table === 'realm') touched.realms.push(row.id);
  else if (table !== 'account' && table !== 'credential') touched.realms.push(String(row['realm_id']));
}

function checkNamesFree(sql: Statements, table: RecordTable, row: WriteChange['row']): void {
  const named = { realm_id: row['realm_id'], name: row['name'] };
  const check = (query: string, values: Record<string, unknown>, on: Conflict['on'], value: unknown) => {
    const other = sql.get(query, values);
    if (other !== undefined && other['id'] !== row.id)
      throw new Refused({ outcome: 'conflict', on, value: String(value) });
  };
  if (table === 'realm') check('realm.byName', named, 'realm.name', row['name']);
  if (table === 'client') check('client.byName', row, 'client.clientId', row['client_id']);
  if (table === 'client_scope') check('client_scope.byName', named, 'clientScope.name', row['name']);
  if (table === 'role')
    check('role.byName', { ...named, owner: row['client_uuid'] ?? '' }, 'role.name', row['name']);
  if (table === 'realm_group')
    check('realm_group.byName', { ...named, owner: row['parent_id'] ?? '' }, 'group.name', row['name']);
  if (table === 'account') {
    check('account.byUsername', row, 'user.username', row['username']);
    if (row['email'] !== null && !duplicateEmailsAllowed(sql, String(row['realm_id'])))
      check('account.byEmail', row, 'user.email', row['email']);
  }
}

function duplicateEmailsAllowed(sql: Statements, realmId: string): boolean {
  const doc = JSON.parse(String(sql.get('realm.byId', { id: realmId })?.['doc'])) as {
    settings: { duplicateEmailsAllowed?: boolean };
  };
  return doc.settings.duplicateEmailsAllowed === true;
}
