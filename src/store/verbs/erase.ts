import type { RecordTable } from '../queries/configuration.ts';
import { ERASING, FILLING, RETURNING, type TrashRow } from '../schema.ts';
import { kindOfTable } from './keep.ts';
import { rangeOf } from './restore-trash.ts';
import { all, get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/**
 * Makes the earlier entries of a record in the bin unusable, and removes what other entries contain about a user. The
 * sweep removes their parts.
 */
export function* eraseRecord(table: RecordTable, id: string): Steps<void> {
  const kind = kindOfTable(table);
  if (kind === undefined) return;
  if (kind === 'realm') yield* send('trash.eraseOfRealm', { realm_id: id });
  for (const entry of yield* all('trash.ofRecord', { record_id: id, kind })) yield* markErased(entry.id);
  if (kind !== 'user') return;
  const user = yield* get('account.byId', { id });
  if (user !== undefined) yield* send('trash_part.forgetUser', { user_id: id, realm_id: user.realm_id });
}

function* markErased(id: string): Steps<void> {
  yield* send('trash.erase', { id });
  for (const owned of yield* all('trash.ownedBy', { owner_id: id })) yield* markErased(owned.id);
}

/**
 * Makes an entry unusable and removes at most `limit` of its parts. The last slice also removes the entry. The events
 * are stored once, by the call that makes the entry unusable.
 */
export function* eraseSlice({
  id,
  limit,
  records,
}: Verbs['eraseSlice']['in']): Steps<Verbs['eraseSlice']['out']> {
  const entry = yield* get('trash.byId', { id });
  if (entry === undefined) return 'missing';
  if (entry.state === FILLING || entry.state === RETURNING) return 'busy';
  if (entry.state !== ERASING) {
    yield* markErased(id);
    yield* eraseDependents(entry);
    for (const row of records)
      if ((yield* get('realm.exists', { id: row.realm_id })) !== undefined)
        yield* send('admin_event.insert', row);
  }
  let removed = 0;
  for (const owned of [...(yield* all('trash.ownedBy', { owner_id: id })), entry]) {
    removed += yield* eraseParts(owned.id, limit - removed);
    if (removed >= limit) return removed;
    yield* send('trash.delete', { id: owned.id });
  }
  return removed;
}

/** Erases what the bin contains besides the entry: of a user in other entries, and of a realm the deleted records. */
function* eraseDependents({ kind, realm_id, record_id }: TrashRow): Steps<void> {
  if (kind === 'user') yield* send('trash_part.forgetUser', { user_id: record_id, realm_id });
  if (kind !== 'realm') return;
  // An imported realm may have the same id.
  if ((yield* get('realm.exists', { id: realm_id })) === undefined)
    yield* send('trash.eraseOfRealm', { realm_id });
}

function* eraseParts(id: string, limit: number): Steps<number> {
  const range = rangeOf(id);
  const end = yield* get('trash_part.boundary', { ...range, limit });
  return yield* run('trash_part.deleteRange', end === undefined ? range : { ...range, until: end.id });
}
