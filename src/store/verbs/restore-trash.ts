import type { Dropped } from '../contract/index.ts';
import type { RecordTable } from '../queries/configuration.ts';
import { ERASING, RETURNING, type Tables, type TrashRow } from '../schema.ts';
import { missing, Refused } from './apply.ts';
import { type Asked, all, get, getEach, run, type Steps, send } from './steps.ts';
import type { TouchedRecords } from './touched.ts';
import type { RecordRow, RestoreChange, RestoredSlice, WriteChange } from './verbs.ts';
import { createRecords, type RealmRowsSeen } from './write-records.ts';

/** The tables whose rows a realm gets back in slices, in an order that satisfies the foreign keys. */
const BULK = ['client_scope', 'role', 'realm_group', 'component', 'client', 'account', 'credential'] as const;
const LINKS = ['user_role', 'user_group', 'user_consent'] as const;
/** The tables of the records that a restored user, client or group consists of. */
const RECORDS = ['client', 'role', 'realm_group', 'account', 'credential'] as const;
/** Maximum number of left out links of a slice that are reported. */
const REPORTED = 20;

/** What a restored link refers to. */
const TARGETS = { user_role: 'role', user_group: 'group', user_consent: 'client' } as const;

/** The state of a slice. */
interface Slice {
  left: number;
  dropped: Dropped[];
  touched: TouchedRecords;
  realms: RealmRowsSeen;
}

/**
 * Restores an entry of the bin, but moves at most about `limit` rows. The next call continues. The entry is removed in
 * the transaction of the last slice, so exactly one caller finishes it.
 *
 * @throws Refused if an id or a name is taken
 */
export function* restoreSlice(
  { id, limit, name, records }: RestoreChange,
  touched: TouchedRecords,
  realms: RealmRowsSeen,
): Steps<RestoredSlice> {
  const main = yield* get('trash.byId', { id });
  if (main === undefined || main.state === ERASING || main.owner_id !== null) return { outcome: 'gone' };
  const slice: Slice = { left: limit, dropped: [], touched, realms };
  const entries = [main, ...(yield* all('trash.ownedBy', { owner_id: id }))];
  for (const entry of entries) {
    yield* restoreEntry(entry, slice, entry === main ? name : undefined);
    touch(entry, touched);
    if (slice.left <= 0) return { outcome: 'more', dropped: slice.dropped };
  }
  for (const entry of entries) {
    yield* enable(entry, touched);
    yield* send('trash.delete', { id: entry.id });
  }
  for (const row of records)
    if ((yield* get('realm.exists', { id: row.realm_id })) !== undefined)
      yield* send('admin_event.insert', row);
  return { outcome: 'restored', dropped: slice.dropped };
}

function touch({ kind, realm_id, record_id }: TrashRow, touched: TouchedRecords): void {
  if (kind === 'user') {
    touched.user(realm_id, record_id);
    return;
  }
  touched.realm(realm_id);
  touched.clientsOf(realm_id);
  touched.usersOf(realm_id);
}

function* restoreEntry(entry: TrashRow, slice: Slice, name: string | undefined): Steps<void> {
  if (entry.state !== RETURNING) {
    if (entry.kind === 'realm') yield* restoreRealm(entry, slice);
    else yield* restoreRecords(entry, slice, name);
    yield* send('trash.setState', { id: entry.id, state: RETURNING });
  }
  for (const table of BULK) if (slice.left > 0) yield* returnRows(entry.id, table, slice);
  for (const table of LINKS) if (slice.left > 0) yield* returnLinks(entry.id, table, slice);
  if (slice.left > 0) yield* returnReferences(entry, slice);
}

/** Restores the row of a realm, disabled. A realm whose removal was interrupted has none. */
function* restoreRealm(entry: TrashRow, { realms }: Slice): Steps<void> {
  const [row] = yield* takeRows(entry.id, 'realm');
  if (row === undefined) return;
  const doc: { settings: { enabled: boolean; notBefore?: number } } = JSON.parse(row.doc);
  doc.settings.enabled = false;
  doc.settings.notBefore = Math.max(doc.settings.notBefore ?? 0, firstValid(entry));
  const change = { do: 'create', table: 'realm', revision: undefined } as const;
  yield* createRecords([{ ...change, row: { ...row, doc: JSON.stringify(doc) } }], realms);
}

/** Tokens that were issued before this Unix time in seconds stay invalid after the restore. */
function firstValid({ deleted_at }: TrashRow): number {
  return Math.floor(deleted_at / 1000) + 1;
}

/** Restores a user, a client with its roles and service account, or a group with its subgroups. */
function* restoreRecords(entry: TrashRow, slice: Slice, name: string | undefined): Steps<void> {
  const creates: WriteChange[] = [];
  for (const table of RECORDS)
    for (const row of yield* takeRows(entry.id, table))
      creates.push({ do: 'create', revision: undefined, table, row } as WriteChange);
  const created = new Set(creates.map(({ table, row }) => `${table} ${row.id}`));
  for (const change of creates) yield* prepare(change, { entry, created, slice, name });
  if (creates.length > 0) yield* createRecords(creates, slice.realms);
}

interface Preparation {
  entry: TrashRow;
  /** The records that are restored together, each as its table and id. */
  created: ReadonlySet<string>;
  slice: Slice;
  name: string | undefined;
}

/** Removes references to records that do not exist any more, and makes older tokens invalid. */
function* prepare(change: WriteChange, with_: Preparation): Steps<void> {
  const { entry, name } = with_;
  const isMain = change.row.id === entry.record_id;
  switch (change.table) {
    case 'account':
      yield* edit(change, with_, {}, (doc) => {
        doc['notBefore'] = Math.max(Number(doc['notBefore'] ?? 0), firstValid(entry));
      });
      if (isMain && name !== undefined) change.row.username = name;
      if (isMain) yield* mustServe(change.row.service_account_client);
      return;
    case 'client':
      yield* edit(
        change,
        with_,
        {
          scopeRoleIds: 'role',
          defaultClientScopeIds: 'client_scope',
          optionalClientScopeIds: 'client_scope',
        },
        (doc) => {
          doc['notBefore'] = Math.max(Number(doc['notBefore'] ?? 0), firstValid(entry));
        },
      );
      if (isMain && name !== undefined) change.row.client_id = name;
      return;
    case 'role':
      yield* edit(change, with_, { compositeIds: 'role' });
      return;
    case 'realm_group': {
      yield* edit(change, with_, { roleIds: 'role' });
      const parent = change.row.parent_id;
      if (isMain && parent !== null && (yield* get('realm_group.byId', { id: parent })) === undefined) {
        with_.slice.dropped.push({ what: 'group', id: parent });
        change.row.parent_id = null;
      }
      if (isMain && name !== undefined) change.row.name = name;
      return;
    }
    default:
      return;
  }
}

/** A service account without its client would be of no use, and nothing could remove it. @throws Refused */
function* mustServe(client: string | null): Steps<void> {
  if (client !== null && (yield* get('client.byId', { id: client })) === undefined)
    throw missing('client', client);
}

/** @param lists the lists of ids in the document, and the table that each refers to */
function* edit(
  { row }: WriteChange,
  { created, slice }: Preparation,
  lists: Readonly<Record<string, 'role' | 'client_scope'>>,
  change: (doc: Record<string, unknown>) => void = () => {},
): Steps<void> {
  if (!('doc' in row)) return;
  const doc: Record<string, unknown> = JSON.parse(row.doc);
  change(doc);
  for (const [list, table] of Object.entries(lists)) {
    const ids = doc[list];
    if (!Array.isArray(ids) || ids.length === 0) continue;
    const asked: Asked[] = ids.map((id) => [`${table}.byId`, { id }] as const);
    const found = yield* getEach(asked);
    doc[list] = ids.filter((id, index) => {
      if (created.has(`${table} ${id}`) || found[index] !== undefined) return true;
      report(slice, { what: table === 'role' ? 'role' : 'clientScope', id });
      return false;
    });
  }
  row.doc = JSON.stringify(doc);
}

/** Returns all rows of a table that an entry has, and removes them from the bin. */
function* takeRows<T extends RecordTable>(entry: string, table: T): Steps<Tables[T][]> {
  const range = rangeOf(entry, table);
  const parts = yield* all('trash_part.inRange', { ...range, limit: Number.MAX_SAFE_INTEGER });
  if (parts.length > 0) yield* send('trash_part.deleteRange', range);
  return parts.map(({ doc, sealed }) => {
    const row: RecordRow['row'] = JSON.parse(doc);
    return (SEALED.has(table) ? { ...row, sealed } : row) as Tables[T];
  });
}

const SEALED: ReadonlySet<string> = new Set(['realm', 'client', 'component', 'credential']);

/** The range of the ids of an entry's parts, of one table or of all. `0` follows `/`. */
export function rangeOf(entry: string, table?: string): { from: string; until: string } {
  const prefix = table === undefined ? entry : `${entry}/${table}`;
  return { from: `${prefix}/`, until: `${prefix}0` };
}

/** Returns the part of a table's range that has at most `limit` rows. */
function* firstRows(entry: string, table: string, limit: number): Steps<{ from: string; until: string }> {
  const range = rangeOf(entry, table);
  const end = yield* get('trash_part.boundary', { ...range, limit });
  return end === undefined ? range : { ...range, until: end.id };
}

function* returnRows(entry: string, table: (typeof BULK)[number], slice: Slice): Steps<void> {
  const range = yield* firstRows(entry, table, slice.left);
  const taken = yield* get(`trash.taken.${table}`, range);
  if (taken !== undefined)
    throw new Refused({ outcome: 'conflict', on: `${NAMES[table]}.id`, value: taken.id });
  yield* send(`trash.return.${table}`, range);
  slice.left -= yield* run('trash_part.deleteRange', range);
}

const NAMES = {
  client_scope: 'clientScope',
  role: 'role',
  realm_group: 'group',
  component: 'component',
  client: 'client',
  account: 'user',
  credential: 'credential',
} as const;

function* returnLinks(entry: string, table: (typeof LINKS)[number], slice: Slice): Steps<void> {
  const range = yield* firstRows(entry, table, slice.left);
  for (const { id, doc } of yield* all(`trash.lost.${table}`, { ...range, limit: REPORTED })) {
    const link: Record<string, string | null> = JSON.parse(doc);
    const name = link['name'] ?? undefined;
    const target = id.slice(id.lastIndexOf(' ') + 1);
    report(slice, { what: TARGETS[table], id: target, ...(name === undefined ? {} : { name }) });
  }
  yield* send(`trash.return.${table}`, range);
  slice.left -= yield* run('trash_part.deleteRange', range);
}

/** Adds restored roles to the documents that referred to them. */
function* returnReferences(entry: TrashRow, slice: Slice): Steps<void> {
  const range = yield* firstRows(entry.id, 'reference', slice.left);
  const parts = yield* all('trash_part.inRange', { ...range, limit: Number.MAX_SAFE_INTEGER });
  for (const part of parts) {
    const { table, id, list, ids } = JSON.parse(part.doc) as Reference;
    const row = yield* get(`${table}.byId`, { id });
    if (row === undefined) {
      report(slice, { what: table === 'client_scope' ? 'clientScope' : NAMES[table], id });
      continue;
    }
    const doc: Record<string, unknown> = JSON.parse(row.doc);
    const current = (doc[list] as string[] | undefined) ?? [];
    doc[list] = [...new Set([...current, ...ids])];
    yield* send(`${table}.setDoc`, { id, doc: JSON.stringify(doc) });
    if (table === 'client') slice.touched.client(entry.realm_id, id);
    else slice.touched.part(entry.realm_id, table, id);
  }
  slice.left -= yield* run('trash_part.deleteRange', range);
}

/** A document that referred to removed roles (see `keepReference`). */
interface Reference {
  table: 'role' | 'realm_group' | 'client' | 'client_scope';
  id: string;
  list: string;
  ids: readonly string[];
}

function report({ dropped }: Slice, one: Dropped): void {
  if (dropped.length < REPORTED) dropped.push(one);
}

/** Enables a realm or client again that the removal or the restore has disabled. */
function* enable({ kind, record_id, doc: text }: TrashRow, touched: TouchedRecords): Steps<void> {
  const { enabled }: { enabled?: boolean } = JSON.parse(text);
  if (enabled !== true || (kind !== 'realm' && kind !== 'client')) return;
  const row = yield* get(`${kind}.byId`, { id: record_id });
  if (row === undefined) return;
  const doc: { enabled?: boolean; settings?: { enabled?: boolean } } = JSON.parse(row.doc);
  if (kind === 'client') {
    if (doc.enabled === true) return;
    yield* send('client.setDoc', { id: record_id, doc: JSON.stringify({ ...doc, enabled: true }) });
    touched.client('realm_id' in row ? row.realm_id : record_id, record_id);
    return;
  }
  const settings = { ...doc.settings, enabled: true };
  yield* send('realm.update', { ...(row as Tables['realm']), doc: JSON.stringify({ ...doc, settings }) });
  touched.realm(record_id);
}
