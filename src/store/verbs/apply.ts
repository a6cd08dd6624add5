import type { RecordKind } from '../contract/index.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { eraseRecord } from './erase.ts';
import { closeEntry, openEntry } from './keep.ts';
import { endUserSessions } from './login.ts';
import { findManyDependents, findManySessions, type OwningTable } from './many.ts';
import { removeRecord } from './remove.ts';
import { restoreSlice } from './restore-trash.ts';
import { get, type Steps, send } from './steps.ts';
import { type Touched, TouchedRecords } from './touched.ts';
import type { AppliedRows, Many, RestoredSlice, RowChange, Verbs, WriteChange } from './verbs.ts';
import { createRecords, putRecord, RealmRowsSeen } from './write-records.ts';

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
  readonly answer: Exclude<AppliedRows, { outcome: 'applied' }>;
  constructor(answer: Refused['answer']) {
    super(answer.outcome);
    this.answer = answer;
  }
}

/**
 * Applies a list of changes. If it throws, the caller must roll back to the state before.
 *
 * If a change would remove many records, the list is refused with `Many`. The rest of the list is checked first, because
 * slices then remove these records before the list is applied.
 *
 * @throws Refused
 */
export function* applyChanges({ changes, unbounded }: Verbs['apply']['in']): Steps<AppliedRows> {
  const list: List = {
    touched: new TouchedRecords(),
    realms: new RealmRowsSeen(),
    unbounded,
    entries: new Map(),
  };
  try {
    for (let index = 0; index < changes.length; ) {
      const creates = leadingCreates(changes, index);
      if (creates.length > 0) {
        yield* createRecords(creates, list.realms);
        for (const change of creates) touch(list.touched, change);
        index += creates.length;
      } else yield* applyChange(changes[index++]!, list);
    }
  } catch (error) {
    // The skipped removal may free the name that caused the conflict.
    if (list.skipped === undefined || !isConflict(error)) throw error;
    throw new Refused(list.skipped);
  }
  if (list.skipped !== undefined) throw new Refused(list.skipped);
  const { restored } = list;
  const touched = list.touched.toTouched();
  return { outcome: 'applied', touched, ...(restored === undefined ? {} : { restored }) };
}

/** The state of a list of changes that is being applied. */
interface List {
  touched: TouchedRecords;
  realms: RealmRowsSeen;
  unbounded: readonly string[];
  /** The first change that was skipped because it would remove many records. */
  skipped?: Many;
  restored?: RestoredSlice;
  /** The entries of the bin that the list uses, by the ids that it named. An interrupted removal has its own id. */
  entries: Map<string, string>;
}

function isConflict(error: unknown): boolean {
  return error instanceof Refused && error.answer.outcome === 'conflict';
}

/** Maximum number of records that are checked and created together. */
const TOGETHER = 100;

/** Returns the records that the list creates from `index` on, without other changes in between. */
function leadingCreates(changes: readonly RowChange[], index: number): readonly WriteChange[] {
  const creates: WriteChange[] = [];
  for (const change of changes.slice(index, index + TOGETHER)) {
    if (change.do !== 'create') break;
    creates.push(change);
  }
  return creates;
}

const OWNING: readonly RecordTable[] = ['account', 'client', 'realm', 'realm_group', 'role'];

function ownsMany(table: RecordTable): table is OwningTable {
  return OWNING.includes(table);
}

/** Returns what a change would remove, if these are too many records for one transaction. */
function* findMany(change: RowChange, { unbounded }: List): Steps<Many | undefined> {
  if (change.do === 'endSessions' && !unbounded.includes(change.userId))
    return yield* findManySessions(change.userId, change.offlineToo ? 1 : 0);
  if (change.do !== 'remove' || !ownsMany(change.table) || unbounded.includes(change.id)) return undefined;
  const many = yield* findManyDependents(change.table, change.id);
  if (many === undefined) return undefined;
  yield* mustExist(change.table, change.id);
  return change.keep === undefined ? many : { ...many, keep: change.keep };
}

function* applyChange(change: RowChange, list: List): Steps<void> {
  const { touched, realms } = list;
  const many = yield* findMany(change, list);
  if (many !== undefined) {
    list.skipped ??= many;
    return;
  }
  switch (change.do) {
    case 'create':
    case 'put':
      yield* putRecord(change, realms);
      touch(touched, change);
      return;
    case 'remove':
      realms.forget(change.id);
      yield* removeAndKeep(change, list);
      return;
    case 'restore':
      list.restored = yield* restoreSlice(change, touched, realms);
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
      yield* endUserSessions({
        user_id: change.userId,
        offline: change.offlineToo ? 1 : 0,
        limit: Number.MAX_SAFE_INTEGER,
      });
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
    case 'forgetUsers':
      touched.usersOf(change.realmId);
      return;
  }
}

/** Removes a record. It moves to the bin, or its earlier entries in the bin are erased. @throws Refused */
function* removeAndKeep(
  { table, id, keep, erase }: Extract<RowChange, { do: 'remove' }>,
  { touched, entries }: List,
): Steps<void> {
  if (erase === true) yield* eraseRecord(table, id);
  const entry = keep === undefined ? undefined : yield* openEntry(table, id, keep);
  yield* removeRecord(table, id, touched, entry);
  if (entry === undefined || keep === undefined) return;
  entries.set(keep.id, entry);
  const { owner_id: owner } = keep;
  yield* closeEntry(entry, { ...keep, owner_id: owner === null ? null : (entries.get(owner) ?? owner) });
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

export function missing(table: RecordTable, id: string): Refused {
  return new Refused({ outcome: 'missing', what: KINDS[table], id });
}

/**
 * Returns the cache entries that the changes may have invalidated, if they were applied. Returns undefined if the
 * changes alone do not show it.
 */
export function possiblyTouched(changes: readonly RowChange[]): Touched | undefined {
  const touched = new TouchedRecords();
  for (const change of changes) {
    if (change.do === 'create' || change.do === 'put') touch(touched, change);
    else if (change.do === 'forgetUsers') touched.usersOf(change.realmId);
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
