import type { Conflict, Missing, RecordKind, Stale } from '../contract/index.ts';
import type { QueryName, SlotsOf } from '../queries/compiled/types.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { revisionOf } from '../records/revision.ts';
import type { Tables } from '../schema.ts';
import { endUserSessions } from './login.ts';
import { removeRecord } from './remove.ts';
import { get, getEach, type Steps, send } from './steps.ts';
import { type Touched, TouchedRecords } from './touched.ts';
import type { AppliedRows, RecordRow, RowChange, WriteChange } from './verbs.ts';

/** The model's name for the records of each table. */
export const KINDS: Readonly<Record<RecordTable, RecordKind>> = {
  realm: 'realm',
  client: 'client',
  client_scope: 'clientScope',
  role: 'role',
  realm_group: 'group',
  component: 'component',
  account: 'user',
  credential: 'credential',
};

/** Thrown to roll back the whole list. `answer` is the result of `apply`. */
export class Refused extends Error {
  readonly answer: Conflict | Missing | Stale;
  constructor(answer: Conflict | Missing | Stale) {
    super(answer.outcome);
    this.answer = answer;
  }
}

/**
 * Applies a list of changes. If it throws, the caller must roll back to the state before.
 *
 * @throws Refused
 */
export function* applyChanges(changes: readonly RowChange[]): Steps<AppliedRows> {
  const touched = new TouchedRecords();
  for (const change of changes) yield* applyChange(change, touched);
  return { outcome: 'applied', touched: touched.toTouched() };
}

function* applyChange(change: RowChange, touched: TouchedRecords): Steps<void> {
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
      yield* touchUser(change.userId, touched);
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
      yield* touchUser(change.userId, touched);
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
      yield* send('consent.put', change.row);
      return;
    case 'record':
      if ((yield* get('realm.byId', { id: change.row.realm_id })) !== undefined)
        yield* send('admin_event.insert', change.row);
      return;
  }
}

/** @throws Refused */
function* mustExist(table: RecordTable, id: string): Steps<void> {
  if ((yield* get(`${table}.byId`, { id })) === undefined) throw missing(table, id);
}

/** @throws Refused */
function* touchUser(userId: string, touched: TouchedRecords): Steps<void> {
  const user = yield* get('account.byId', { id: userId });
  if (user === undefined) throw missing('account', userId);
  touched.user(user.realm_id, userId);
}

function missing(table: RecordTable, id: string): Refused {
  return new Refused({ outcome: 'missing', what: KINDS[table], id });
}

function* writeRecord(change: WriteChange, touched: TouchedRecords): Steps<void> {
  const { table, row } = change;
  const id: string = row.id;
  const realmId = 'realm_id' in row ? row.realm_id : undefined;
  const names = namesOf(change);
  const [previous, realm, user, ...owners] = yield* getEach([
    // The row of a user includes the assignments, because a `put` also replaces them.
    change.do === 'put' && change.table === 'account' ? ['user.find', change.row] : [`${table}.byId`, { id }],
    realmId === undefined ? undefined : ['realm.byId', { id: realmId }],
    change.table === 'credential' ? ['account.byId', { id: change.row.user_id }] : undefined,
    ...names.map(({ query }) => query),
  ]);
  if (change.do === 'create' && previous !== undefined)
    throw new Refused({ outcome: 'conflict', on: `${KINDS[table]}.id`, value: row.id });
  if (change.do === 'put') {
    if (previous === undefined) throw missing(table, row.id);
    if (revisionOf(previous) !== change.revision)
      throw new Refused({ outcome: 'stale', what: KINDS[table], id: row.id });
  }
  if (realmId !== undefined && realm === undefined) throw missing('realm', realmId);
  if (change.table === 'credential' && user === undefined) throw missing('account', change.row.user_id);
  for (const [index, { on, value }] of names.entries()) {
    const owner = owners[index];
    if (owner === undefined || owner.id === row.id) continue;
    if (on !== 'user.email' || realm === undefined || !duplicateEmailsAllowed(realm))
      throw new Refused({ outcome: 'conflict', on, value });
  }
  yield* send(`${table}.${change.do === 'create' ? 'insert' : 'update'}`, row);
  if (table === 'account') yield* writeAssignments(change);
  touch(touched, change);
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

/**
 * Returns the cache entries that the changes may have invalidated, if they were applied. Returns undefined if the
 * changes alone do not show it.
 */
export function possiblyTouched(changes: readonly RowChange[]): Touched | undefined {
  const touched = new TouchedRecords();
  for (const change of changes) {
    if (change.do === 'create' || change.do === 'put') touch(touched, change);
    else if (change.do !== 'record' && change.do !== 'endSessions' && change.do !== 'putConsent')
      return undefined;
  }
  return touched.toTouched();
}

function touch(touched: TouchedRecords, { do: how, table, row }: WriteChange): void {
  if (table === 'credential') return;
  if (table === 'client') touched.client(row.realm_id, row.id);
  else if (table === 'account') touched.user(row.realm_id, row.id);
  else if (table !== 'realm') touched.part(row.realm_id, table, row.id);
  else if (how === 'create') touched.realm(row.id);
  else touched.part(row.id, table, row.id);
}

/** A value that must be unique, and the query that finds the record with that value. */
interface Name {
  query: NameQuery;
  on: Conflict['on'];
  value: string;
}

type NameQuery = {
  [Q in Extract<QueryName, `${string}.byName` | 'account.byUsername' | 'account.byEmail'>]: readonly [
    query: Q,
    values: SlotsOf<Q>,
  ];
}[Extract<QueryName, `${string}.byName` | 'account.byUsername' | 'account.byEmail'>];

function namesOf({ table, row }: RecordRow): readonly Name[] {
  switch (table) {
    case 'realm':
      return [{ query: ['realm.byName', row], on: 'realm.name', value: row.name }];
    case 'client':
      return [{ query: ['client.byName', row], on: 'client.clientId', value: row.client_id }];
    case 'client_scope':
      return [{ query: ['client_scope.byName', row], on: 'clientScope.name', value: row.name }];
    case 'role': {
      const owner = row.client_uuid ?? '';
      return [{ query: ['role.byName', { ...row, owner }], on: 'role.name', value: row.name }];
    }
    case 'realm_group': {
      const owner = row.parent_id ?? '';
      return [{ query: ['realm_group.byName', { ...row, owner }], on: 'group.name', value: row.name }];
    }
    case 'account': {
      const { email, username } = row;
      const names: Name[] = [{ query: ['account.byUsername', row], on: 'user.username', value: username }];
      if (email !== null)
        names.push({ query: ['account.byEmail', { ...row, email }], on: 'user.email', value: email });
      return names;
    }
    default:
      return [];
  }
}

function duplicateEmailsAllowed(realm: Tables['realm']): boolean {
  const { settings }: { settings: { duplicateEmailsAllowed?: boolean } } = JSON.parse(realm.doc);
  return settings.duplicateEmailsAllowed === true;
}
