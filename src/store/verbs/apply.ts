import type { Conflict, Missing } from '../contract.ts';
import type { RecordTable } from '../queries/configuration.ts';
import type { Arguments } from '../rows.ts';
import { endUserSessions } from './login.ts';
import { removeRecord } from './remove.ts';
import { get, run, type Steps } from './steps.ts';
import type { AppliedRows, RowChange, Touched } from './verbs.ts';

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
export function* applyChanges(changes: readonly RowChange[]): Steps<AppliedRows> {
  const touched: Touched = { realms: [], clients: [], clientsOf: [] };
  for (const change of changes) yield* applyChange(change, touched);
  return { outcome: 'applied', touched };
}

function* applyChange(change: RowChange, touched: Touched): Steps<void> {
  switch (change.do) {
    case 'create':
    case 'put':
      yield* writeRecord(change, touched);
      return;
    case 'remove':
      yield* removeRecord(change.table, change.id, touched);
      return;
    case 'assign':
    case 'unassign':
      yield* mustExist('account', change.userId);
      for (const roleId of change.roleIds) {
        if (change.do === 'assign') yield* mustExist('role', roleId);
        yield* run(change.do === 'assign' ? 'user_role.add' : 'user_role.delete', {
          user_id: change.userId,
          role_id: roleId,
        });
      }
      return;
    case 'join':
    case 'leave':
      yield* mustExist('account', change.userId);
      if (change.do === 'join') yield* mustExist('realm_group', change.groupId);
      yield* run(change.do === 'join' ? 'user_group.add' : 'user_group.delete', {
        user_id: change.userId,
        group_id: change.groupId,
      });
      return;
    case 'endSessions':
      yield* endUserSessions({ user_id: change.userId, offline: change.offlineToo ? 1 : 0 });
      return;
    case 'putConsent':
      yield* mustExist('account', change.row.user_id);
      yield* mustExist('client', change.row.client_uuid);
      yield* run('consent.put', { ...change.row });
      return;
    case 'record':
      if ((yield* get('realm.byId', { id: change.row['realm_id'] })) !== undefined)
        yield* run('admin_event.insert', change.row);
      return;
  }
}

/** @throws Refused */
function* mustExist(table: RecordTable, id: string): Steps<void> {
  if ((yield* get(`${table}.byId`, { id })) === undefined)
    throw new Refused({ outcome: 'missing', what: KINDS[table], id });
}

function* writeRecord(change: WriteChange, touched: Touched): Steps<void> {
  const { table, row } = change;
  const previous = yield* get(`${table}.byId`, { id: row.id });
  if (change.do === 'create' && previous !== undefined)
    throw new Refused({ outcome: 'conflict', on: `${KINDS[table]}.id` as Conflict['on'], value: row.id });
  if (change.do === 'put' && previous === undefined)
    throw new Refused({ outcome: 'missing', what: KINDS[table], id: row.id });
  if (typeof row['realm_id'] === 'string') yield* mustExist('realm', row['realm_id']);
  if (table === 'credential') yield* mustExist('account', String(row['user_id']));
  yield* checkNamesFree(table, row);
  yield* run(`${table}.${change.do === 'create' ? 'insert' : 'update'}`, row);
  if (table === 'account') yield* writeAssignments(change);
  touch(touched, table, row);
}

function* writeAssignments(change: WriteChange): Steps<void> {
  const user = { user_id: change.row.id };
  if (change.do === 'put') {
    yield* run('user_role.clear', user);
    yield* run('user_group.clear', user);
  }
  for (const roleId of change.roleIds ?? []) yield* run('user_role.add', { ...user, role_id: roleId });
  for (const groupId of change.groupIds ?? []) yield* run('user_group.add', { ...user, group_id: groupId });
}

function touch(touched: Touched, table: RecordTable, row: WriteChange['row']): void {
  if (table === 'client') touched.clients.push(row.id);
  else if (table === 'realm') touched.realms.push(row.id);
  else if (table !== 'account' && table !== 'credential') touched.realms.push(String(row['realm_id']));
}

function* checkNamesFree(table: RecordTable, row: WriteChange['row']): Steps<void> {
  const named = { realm_id: row['realm_id'], name: row['name'] };
  function* check(query: string, values: Arguments, on: Conflict['on'], value: unknown): Steps<void> {
    const other = yield* get(query, values);
    if (other !== undefined && other['id'] !== row.id)
      throw new Refused({ outcome: 'conflict', on, value: String(value) });
  }
  if (table === 'realm') yield* check('realm.byName', named, 'realm.name', row['name']);
  if (table === 'client') yield* check('client.byName', row, 'client.clientId', row['client_id']);
  if (table === 'client_scope') yield* check('client_scope.byName', named, 'clientScope.name', row['name']);
  if (table === 'role')
    yield* check('role.byName', { ...named, owner: row['client_uuid'] ?? '' }, 'role.name', row['name']);
  if (table === 'realm_group')
    yield* check(
      'realm_group.byName',
      { ...named, owner: row['parent_id'] ?? '' },
      'group.name',
      row['name'],
    );
  if (table === 'account') {
    yield* check('account.byUsername', row, 'user.username', row['username']);
    if (row['email'] !== null && !(yield* duplicateEmailsAllowed(String(row['realm_id']))))
      yield* check('account.byEmail', row, 'user.email', row['email']);
  }
}

function* duplicateEmailsAllowed(realmId: string): Steps<boolean> {
  const doc = JSON.parse(String((yield* get('realm.byId', { id: realmId }))?.['doc'])) as {
    settings: { duplicateEmailsAllowed?: boolean };
  };
  return doc.settings.duplicateEmailsAllowed === true;
}
