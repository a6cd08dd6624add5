import type { RowOf } from '../queries/compiled/types.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { FILLING, type TrashRow, WHOLE } from '../schema.ts';
import { all, get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/** How a removal keeps its record: the entry as it will be when it is whole. */
export interface Kept {
  id: string;
  deleted_at: number;
  expires_at: number;
  owner_id: string | null;
  /** JSON (see `TrashRow`). */
  doc: string;
}

const KINDS: Partial<Record<RecordTable, TrashRow['kind']>> = {
  realm: 'realm',
  account: 'user',
  client: 'client',
  realm_group: 'group',
};

/** Returns the kind of the records of a table, or undefined if the bin does not keep them. */
export function kindOfTable(table: RecordTable): TrashRow['kind'] | undefined {
  return KINDS[table];
}

/** Maximum number of keys that one step reads if the caller sets no limit. */
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * Returns the id of the entry for a record that is being removed. If an earlier removal of this record was interrupted,
 * its entry continues.
 */
export function* openEntry(table: RecordTable, id: string, kept: Kept): Steps<string | undefined> {
  const kind = KINDS[table];
  if (kind === undefined) return undefined;
  const known = yield* all('trash.ofRecord', { record_id: id, kind });
  const open = known.find(({ state }) => state === FILLING);
  if (open !== undefined) return open.id;
  const row = yield* get(`${table as 'realm' | 'account' | 'client' | 'realm_group'}.byId`, { id });
  if (row === undefined) return undefined;
  yield* send('trash.insert', {
    ...kept,
    realm_id: 'realm_id' in row ? row.realm_id : row.id,
    kind,
    record_id: id,
    name: nameOf(row),
    state: FILLING,
    doc: JSON.stringify({ ...JSON.parse(kept.doc), ...enabledOf(row.doc) }),
  });
  return kept.id;
}

type OwnerRow =
  | RowOf<'realm.byId'>
  | RowOf<'account.byId'>
  | RowOf<'client.byId'>
  | RowOf<'realm_group.byId'>;

function nameOf(row: OwnerRow): string {
  if ('username' in row) return row.username;
  return 'client_id' in row ? row.client_id : row.name;
}

/** Whether a realm or client is enabled, because a removal in slices disables it. */
function enabledOf(text: string): { enabled?: boolean } {
  const doc: { enabled?: boolean; settings?: { enabled?: boolean } } = JSON.parse(text);
  const enabled = doc.enabled ?? doc.settings?.enabled;
  return enabled === undefined ? {} : { enabled };
}

/** Marks the entry as whole: its record is being removed in the same transaction. */
export function* closeEntry(id: string, kept: Kept): Steps<void> {
  const row = yield* get('trash.byId', { id });
  if (row === undefined) return;
  const doc = JSON.stringify({ ...JSON.parse(row.doc), ...JSON.parse(kept.doc) });
  yield* send('trash.update', { ...kept, id, doc, state: WHOLE });
}

/** Copies users with everything that depends on them, apart from sessions. */
export function* keepUsers(trash: string, user_ids: readonly string[]): Steps<void> {
  if (user_ids.length === 0) return;
  const values = { trash, user_ids };
  yield* send('keep.accounts', values);
  yield* send('keep.credentials', values);
  yield* send('keep.rolesOfUsers', values);
  yield* send('keep.groupsOfUsers', values);
  yield* send('keep.consentsOfUsers', values);
}

/** Copies what a removal of the record itself removes, apart from the records that `removeRecord` removes one by one. */
export function* keepRecord(trash: string, table: RecordTable, id: string): Steps<void> {
  switch (table) {
    case 'account':
      yield* keepUsers(trash, [id]);
      return;
    case 'realm_group':
      yield* send('keep.realm_group', { trash, id });
      yield* keepMembers(trash, id, ALL);
      return;
    case 'client': {
      yield* send('keep.client', { trash, id });
      yield* send('keep.rolesOfClient', { trash, client_uuid: id });
      for (const role of yield* all('role.ofClient', { client_uuid: id }))
        yield* keepUsersOfRole(trash, role.id, ALL);
      yield* keepConsents(trash, id, ALL);
      const accounts = yield* all('slice.serviceAccounts', { client_uuid: id });
      yield* keepUsers(
        trash,
        accounts.map((account) => account.id),
      );
      return;
    }
    case 'realm': {
      yield* send('keep.realm', { trash, id });
      const of = { trash, realm_id: id };
      yield* send('keep.clientsOfRealm', of);
      yield* send('keep.scopesOfRealm', of);
      yield* send('keep.rolesOfRealm', of);
      yield* send('keep.groupsOfRealm', of);
      yield* send('keep.componentsOfRealm', of);
      const users = yield* all('keep.usersOfRealm', { realm_id: id });
      yield* keepUsers(
        trash,
        users.map((user) => user.id),
      );
      return;
    }
    default:
      return;
  }
}

function* keepUsersOfRole(trash: string, role_id: string, limit: number): Steps<string[]> {
  const rows = yield* all('keep.firstUsersOfRole', { role_id, limit });
  const user_ids = rows.map((row) => row.user_id);
  if (user_ids.length > 0) yield* send('keep.usersOfRole', { trash, role_id, user_ids });
  return user_ids;
}

function* keepMembers(trash: string, group_id: string, limit: number): Steps<string[]> {
  const rows = yield* all('keep.firstMembers', { group_id, limit });
  const user_ids = rows.map((row) => row.user_id);
  if (user_ids.length > 0) yield* send('keep.members', { trash, group_id, user_ids });
  return user_ids;
}

function* keepConsents(trash: string, client_uuid: string, limit: number): Steps<string[]> {
  const rows = yield* all('keep.firstConsents', { client_uuid, limit });
  const user_ids = rows.map((row) => row.user_id);
  if (user_ids.length > 0) yield* send('keep.consentsOfClient', { trash, client_uuid, user_ids });
  return user_ids;
}

/** Keeps a reference to a removed role, so that a restore adds the role to the document again. */
export function* keepReference(
  trash: string,
  reference: { table: string; id: string; list: string; ids: readonly string[] },
): Steps<void> {
  const id = `${trash}/reference/${reference.table} ${reference.id}`;
  yield* send('trash_part.insert', { id, doc: JSON.stringify(reference), sealed: null });
}

/** Moves a slice of what depends on a record into the bin. Returns the number of moved records. */
export function* keepSlice(slice: Verbs['keepSlice']['in']): Steps<number> {
  const { trash } = slice;
  if (slice.what === 'users') {
    yield* keepUsers(trash, slice.user_ids);
    return yield* run('slice.deleteUsers', { user_ids: slice.user_ids });
  }
  let moved = 0;
  if (slice.what === 'consents') {
    const user_ids = yield* keepConsents(trash, slice.client_uuid, slice.limit);
    return yield* run('keep.dropConsents', { client_uuid: slice.client_uuid, user_ids });
  }
  for (const id of slice.ids) {
    if (moved >= slice.limit) break;
    const limit = slice.limit - moved;
    if (slice.what === 'usersOfRoles') {
      const user_ids = yield* keepUsersOfRole(trash, id, limit);
      moved += yield* run('keep.dropUsersOfRole', { role_id: id, user_ids });
    } else {
      const user_ids = yield* keepMembers(trash, id, limit);
      moved += yield* run('keep.dropMembers', { group_id: id, user_ids });
    }
  }
  return moved;
}
