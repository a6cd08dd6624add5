import type { Conflict } from '../contract/index.ts';
import type { QueryName, SlotsOf } from '../queries/compiled/types.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { revisionOf } from '../records/revision.ts';
import type { Tables } from '../schema.ts';
import { KINDS, missing, Refused } from './apply.ts';
import { getEach, type Steps, send } from './steps.ts';
import type { RecordRow, WriteChange } from './verbs.ts';

/** The rows of realms that a list of changes has read or written, because each of their records refers to them. */
export class RealmRowsSeen {
  readonly #rows = new Map<string, Tables['realm']>();

  get(id: string): Tables['realm'] | undefined {
    return this.#rows.get(id);
  }

  set(row: Tables['realm']): void {
    this.#rows.set(row.id, row);
  }

  forget(id: string): void {
    this.#rows.delete(id);
  }
}

/**
 * Creates records, in the order of the list. All checks are sent together, because on Postgres each request for a
 * result costs a round trip. The result is the same as if each record was created before the next one is checked.
 *
 * @throws Refused
 */
export function* createRecords(changes: readonly WriteChange[], realms: RealmRowsSeen): Steps<void> {
  const checks = changes.map((change) => ({ change, names: namesOf(change) }));
  const created = new Created();
  const unknownRealms = new Set<string>();
  for (const { change } of checks) {
    const realmId = realmOf(change);
    if (realmId !== undefined && realms.get(realmId) === undefined) unknownRealms.add(realmId);
  }
  const found = yield* getEach([...unknownRealms].map((id) => ['realm.byId', { id }] as const));
  for (const realm of found) if (realm !== undefined) realms.set(realm);
  const rows = (yield* getEach(
    checks.flatMap(({ change, names }) => {
      const id: string = change.row.id;
      return [
        [`${change.table}.byId`, { id }] as const,
        change.table === 'credential' ? (['account.byId', { id: change.row.user_id }] as const) : undefined,
        ...names.map(({ query }) => query),
      ];
    }),
  )).values();
  const next = () => rows.next().value as { id: string } | undefined;
  for (const { change, names } of checks) {
    const { table, row } = change;
    const previous = next();
    const user = next();
    const owners = names.map((name) => next() ?? created.ownerOf(name));
    if (previous !== undefined || created.has(table, row.id))
      throw new Refused({ outcome: 'conflict', on: `${KINDS[table]}.id`, value: row.id });
    checkRealm(change, realms);
    if (change.table === 'credential' && user === undefined && !created.has('account', change.row.user_id))
      throw missing('account', change.row.user_id);
    checkNames(change, names, owners, realms);
    yield* send(`${table}.insert`, row);
    if (table === 'account') yield* writeAssignments(change);
    created.add(change, names);
    if (change.table === 'realm') realms.set(change.row);
  }
}

/** The records that a list has created so far, and their names. */
class Created {
  readonly #ids = new Set<string>();
  readonly #owners = new Map<string, { id: string }>();

  has(table: RecordTable, id: string): boolean {
    return this.#ids.has(`${table} ${id}`);
  }

  /** Returns the record that has the name already. */
  ownerOf(name: Name): { id: string } | undefined {
    return this.#owners.get(keyOf(name));
  }

  add({ table, row }: WriteChange, names: readonly Name[]): void {
    this.#ids.add(`${table} ${row.id}`);
    for (const name of names) if (this.ownerOf(name) === undefined) this.#owners.set(keyOf(name), row);
  }
}

function keyOf({ on, among, value }: Name): string {
  return JSON.stringify([on, among, value]);
}

/**
 * Replaces a record, if it has not changed since it was read.
 *
 * @throws Refused
 */
export function* putRecord(change: WriteChange, realms: RealmRowsSeen): Steps<void> {
  const { table, row } = change;
  const id: string = row.id;
  const realmId = realmOf(change);
  const names = namesOf(change);
  const [previous, realm, user, ...owners] = yield* getEach([
    // The row of a user includes the assignments, because a `put` also replaces them.
    change.table === 'account' ? ['user.find', change.row] : [`${table}.byId`, { id }],
    realmId === undefined || realms.get(realmId) !== undefined ? undefined : ['realm.byId', { id: realmId }],
    change.table === 'credential' ? ['account.byId', { id: change.row.user_id }] : undefined,
    ...names.map(({ query }) => query),
  ]);
  if (realm !== undefined) realms.set(realm);
  if (previous === undefined) throw missing(table, id);
  if (revisionOf(previous) !== change.revision)
    throw new Refused({ outcome: 'stale', what: KINDS[table], id });
  checkRealm(change, realms);
  if (change.table === 'credential' && user === undefined) throw missing('account', change.row.user_id);
  checkNames(change, names, owners, realms);
  yield* send(`${table}.update`, row);
  if (table === 'account') yield* writeAssignments(change);
  if (change.table === 'realm') realms.set(change.row);
}

/** Returns the id of the realm to which the record belongs. Realms and credentials have none. */
function realmOf({ row }: WriteChange): string | undefined {
  return 'realm_id' in row ? row.realm_id : undefined;
}

/** @throws Refused if the realm of the record does not exist */
function checkRealm(change: WriteChange, realms: RealmRowsSeen): void {
  const realmId = realmOf(change);
  if (realmId !== undefined && realms.get(realmId) === undefined) throw missing('realm', realmId);
}

/** @throws Refused if another record has one of the names */
function checkNames(
  change: WriteChange,
  names: readonly Name[],
  owners: readonly ({ id: string } | undefined)[],
  realms: RealmRowsSeen,
): void {
  const realm = realms.get(realmOf(change) ?? '');
  for (const [index, { on, value }] of names.entries()) {
    const owner = owners[index];
    if (owner === undefined || owner.id === change.row.id) continue;
    if (on !== 'user.email' || realm === undefined || !duplicateEmailsAllowed(realm))
      throw new Refused({ outcome: 'conflict', on, value });
  }
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

/** A value that must be unique, and the query that finds the record with that value. */
interface Name {
  query: NameQuery;
  on: Conflict['on'];
  value: string;
  /** The records among which the value must be unique. */
  among: string;
}

type NameQuery = {
  [Q in Extract<QueryName, `${string}.byName` | 'account.byUsername' | 'account.byEmail'>]: readonly [
    query: Q,
    values: SlotsOf<Q>,
  ];
}[Extract<QueryName, `${string}.byName` | 'account.byUsername' | 'account.byEmail'>];

function namesOf({ table, row }: RecordRow): readonly Name[] {
  const among = 'realm_id' in row ? row.realm_id : '';
  switch (table) {
    case 'realm':
      return [{ query: ['realm.byName', row], on: 'realm.name', value: row.name, among: '' }];
    case 'client':
      return [{ query: ['client.byName', row], on: 'client.clientId', value: row.client_id, among }];
    case 'client_scope':
      return [{ query: ['client_scope.byName', row], on: 'clientScope.name', value: row.name, among }];
    case 'role': {
      const owner = row.client_uuid ?? '';
      return [
        {
          query: ['role.byName', { ...row, owner }],
          on: 'role.name',
          value: row.name,
          among: `${among} ${owner}`,
        },
      ];
    }
    case 'realm_group': {
      const owner = row.parent_id ?? '';
      return [
        {
          query: ['realm_group.byName', { ...row, owner }],
          on: 'group.name',
          value: row.name,
          among: `${among} ${owner}`,
        },
      ];
    }
    case 'account': {
      const { email, username } = row;
      const names: Name[] = [
        { query: ['account.byUsername', row], on: 'user.username', value: username, among },
      ];
      if (email !== null)
        names.push({ query: ['account.byEmail', { ...row, email }], on: 'user.email', value: email, among });
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
