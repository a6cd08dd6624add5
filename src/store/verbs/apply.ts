import type { Conflict, Missing, Stale } from '../contract/index.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { revisionOf } from '../records/revision.ts';
import type { Arguments, Row } from '../schema.ts';
import { endUserSessions } from './login.ts';
import { removeRecord } from './remove.ts';
import { get, getEach, type Steps, send } from './steps.ts';
import type { AppliedRows, RowChange, Touched, WriteChange } from './verbs.ts';

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
  readonly answer: Conflict | Missing | Stale;
  constructor(answer: Conflict | Missing | Stale) {
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
        yield* send(change.do === 'assign' ? 'user_role.add' : 'user_role.delete', {
          user_id: change.userId,
          role_id: roleId,
        });
      }
      return;
    case 'join':
    case 'leave':
      yield* mustExist('account', change.userId);
      if (change.do === 'join') yield* mustExist('realm_group', change.groupId);
      yield* send(change.do === 'join' ? 'user_group.add' : 'user_group.delete', {
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
      yield* send('consent.put', { ...change.row });
      return;
    case 'record':
      if ((yield* get('realm.byId', { id: change.row['realm_id'] })) !== undefined)
        yield* send('admin_event.insert', change.row);
      return;
  }
}

/** @throws Refused */
function* mustExist(table: RecordTable, id: string): Steps<void> {
  if ((yield* get(`${table}.byId`, { id })) === undefined) throw missing(table, id);
}

function missing(table: RecordTable, id: string): Refused {
  return new Refused({ outcome: 'missing', what: KINDS[table], id });
}

function* writeRecord(change: WriteChange, touched: Touched): Steps<void> {
  const { table, row } = change;
  const [previous, realm, user, ...names] = yield* getEach([
    // A user with the assignments, which a `put` replaces too.
    [change.do === 'put' && table === 'account' ? 'user.find' : `${table}.byId`, row],
    typeof row['realm_id'] === 'string' ? ['realm.byId', { id: row['realm_id'] }] : undefined,
    table === 'credential' ? ['account.byId', { id: String(row['user_id']) }] : undefined,
    ...namesOf(table, row).map(({ query, values }) => [query, values] as const),
  ]);
  if (change.do === 'create' && previous !== undefined)
    throw new Refused({ outcome: 'conflict', on: `${KINDS[table]}.id` as Conflict['on'], value: row.id });
  if (change.do === 'put' && previous === undefined)
    throw new Refused({ outcome: 'missing', what: KINDS[table], id: row.id });
  if (change.do === 'put' && revisionOf(previous!) !== change.revision)
    throw new Refused({ outcome: 'stale', what: KINDS[table], id: row.id });
  if (typeof row['realm_id'] === 'string' && realm === undefined) throw missing('realm', row['realm_id']);
  if (table === 'credential' && user === undefined) throw missing('account', String(row['user_id']));
  for (const [index, { on, value }] of namesOf(table, row).entries()) {
    const other = names[index];
    if (other === undefined || other['id'] === row.id) continue;
    if (on !== 'user.email' || !duplicateEmailsAllowed(realm!))
      throw new Refused({ outcome: 'conflict', on, value: String(value) });
  }
  yield* send(`${table}.${change.do === 'create' ? 'insert' : 'update'}`, row);
  if (table === 'account') yield* writeAssignments(change);
  touch(touched, table, row);
}

function* writeAssignments(change: WriteChange): Steps<void> {
  const user = { user_id: change.row.id };
  if (change.do === 'put') {
    yield* send('user_role.clear', user);
    yield* send('user_group.clear', user);
  }
  for (const roleId of change.roleIds ?? []) yield* send('user_role.add', { ...user, role_id: roleId });
  for (const groupId of change.groupIds ?? []) yield* send('user_group.add', { ...user, group_id: groupId });
}

function touch(touched: Touched, table: RecordTable, row: WriteChange['row']): void {
  if (table === 'client') touched.clients.push(row.id);
  else if (table === 'realm') touched.realms.push(row.id);
  else if (table !== 'account' && table !== 'credential') touched.realms.push(String(row['realm_id']));
}

/** A name that must be free, and how another record that has it is found. */
interface Name {
  query: string;
  values: Arguments;
  on: Conflict['on'];
  value: unknown;
}

function namesOf(table: RecordTable, row: WriteChange['row']): readonly Name[] {
  const named = { realm_id: row['realm_id'], name: row['name'] };
  const name = (query: string, values: Arguments, on: Conflict['on'], value = row['name']): Name[] => [
    { query, values, on, value },
  ];
  switch (table) {
    case 'realm':
      return name('realm.byName', named, 'realm.name');
    case 'client':
      return name('client.byName', row, 'client.clientId', row['client_id']);
    case 'client_scope':
      return name('client_scope.byName', named, 'clientScope.name');
    case 'role':
      return name('role.byName', { ...named, owner: row['client_uuid'] ?? '' }, 'role.name');
    case 'realm_group':
      return name('realm_group.byName', { ...named, owner: row['parent_id'] ?? '' }, 'group.name');
    case 'account':
      return [
        ...name('account.byUsername', row, 'user.username', row['username']),
        ...(row['email'] === null ? [] : name('account.byEmail', row, 'user.email', row['email'])),
      ];
    default:
      return [];
  }
}

function duplicateEmailsAllowed(realm: Row): boolean {
  const { settings } = JSON.parse(String(realm['doc'])) as { settings: { duplicateEmailsAllowed?: boolean } };
  return settings.duplicateEmailsAllowed === true;
}
