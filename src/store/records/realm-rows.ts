import { setImmediate } from 'node:timers/promises';
import { REVISION, type Revised } from '../../model/index.ts';
import type { RealmConfiguration } from '../contract/index.ts';
import type { Answer, Row, Tables } from '../schema.ts';
import type { Keyring } from '../sealing/keyring.ts';
import type { ReadRealm, RealmParts } from '../sql/realm-cache.ts';
import { readClientScope, readComponent, readGroup, readRealm, readRole } from './configuration.ts';

/** The tables with the records of a realm that are cached together. */
export const PARTS = ['role', 'realm_group', 'client_scope', 'component'] as const;

/** The rows of a realm. */
export type RealmRows = { realm: Tables['realm'] } & { [T in (typeof PARTS)[number]]: readonly Tables[T][] };

/** Rows that replace the changed parts of a realm. A missing row was removed. */
export type ChangedRows = Partial<RealmRows>;

/** Number of records that are converted before other work can run. Converting them takes a few milliseconds. */
const SLICE = 250;
/** Number of records that are added to a map before other work can run. */
const MAP_SLICE = 5_000;

/**
 * Converts the rows of a realm to frozen records. If there are many, it lets other work run in between.
 */
export function toRealm(rows: RealmRows, keyring: Keyring): Answer<ReadRealm> {
  const count = PARTS.reduce((sum, table) => sum + rows[table].length, 0);
  return count > SLICE ? inSlices(rows, keyring) : drive(steps(rows, keyring));
}

async function inSlices(rows: RealmRows, keyring: Keyring): Promise<ReadRealm> {
  const work = steps(rows, keyring);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function drive<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

function* steps(rows: RealmRows, keyring: Keyring): Generator<void, ReadRealm> {
  const realm = freezeDeeply(readRealm(rows.realm, keyring));
  const components = yield* records(rows.component, (row) => readComponent(row, keyring));
  const roles = yield* byId(yield* records(rows.role, readRole));
  const groups = yield* byId(yield* records(rows.realm_group, readGroup));
  const clientScopes = yield* byId(yield* records(rows.client_scope, readClientScope));
  let characters = sizeOf([rows.realm]);
  for (const table of PARTS) {
    characters += sizeOf(rows[table]);
    yield;
  }
  const configuration: RealmConfiguration = Object.freeze({
    realm,
    roles,
    groups,
    clientScopes,
    components: Object.freeze(components),
  });
  return { configuration, characters };
}

function* records<R, T extends { id: string }>(
  rows: readonly R[],
  read: (row: R) => T,
): Generator<void, T[]> {
  const all: T[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % SLICE === SLICE - 1) yield;
    all.push(freezeDeeply(read(row)));
  }
  yield;
  // The databases return the rows in the order of an index.
  return all.sort(byOrder);
}

/**
 * Returns the realm with its changed parts replaced. Records that are the same in the database stay the same objects, and
 * so does the whole realm.
 */
export function withChanges(
  known: ReadRealm,
  parts: RealmParts,
  rows: ChangedRows,
  keyring: Keyring,
): ReadRealm {
  const { realm, roles, groups, clientScopes, components } = known.configuration;
  const fresh = {
    realm: rows.realm === undefined ? realm : sameOr(realm, readRealm(rows.realm, keyring)),
    roles: patched(roles, parts.get('role'), rows.role, readRole),
    groups: patched(groups, parts.get('realm_group'), rows.realm_group, readGroup),
    clientScopes: patched(clientScopes, parts.get('client_scope'), rows.client_scope, readClientScope),
    components: replaced(components, rows.component, (row) => readComponent(row, keyring)),
  } satisfies RealmConfiguration;
  const isSame =
    fresh.realm === realm &&
    fresh.roles === roles &&
    fresh.groups === groups &&
    fresh.clientScopes === clientScopes &&
    fresh.components === components;
  if (isSame) return known;
  const before = [
    ...(rows.realm === undefined ? [] : [realm]),
    ...(rows.component === undefined ? [] : components),
    ...changedOf(roles, parts.get('role')),
    ...changedOf(groups, parts.get('realm_group')),
    ...changedOf(clientScopes, parts.get('client_scope')),
  ];
  const after = [rows.realm ?? [], ...PARTS.map((table): readonly Row[] => rows[table] ?? [])].flat();
  return {
    configuration: Object.freeze(fresh),
    characters: Math.max(0, known.characters + sizeOf(after) - sizeOfRecords(before)),
  };
}

/** Returns the cached records that changed. */
function changedOf<T>(known: ReadonlyMap<string, T>, ids: ReadonlySet<string> = new Set()): T[] {
  return [...ids].flatMap((id) => known.get(id) ?? []);
}

/** Returns the known record if it has not changed. */
function sameOr<T extends Revised>(known: T | undefined, read: T): T {
  return known !== undefined && known[REVISION] === read[REVISION] ? known : freezeDeeply(read);
}

function replaced<R, T extends Revised & { id: string }>(
  known: readonly T[],
  rows: readonly R[] | undefined,
  read: (row: R) => T,
): readonly T[] {
  if (rows === undefined) return known;
  const byKnownId = new Map(known.map((record) => [record.id, record]));
  const records = rows
    .map(read)
    .map((record) => sameOr(byKnownId.get(record.id), record))
    .sort(byOrder);
  const isSame = records.length === known.length && records.every((record, index) => record === known[index]);
  return isSame ? known : Object.freeze(records);
}

/** Returns the records with those of `ids` replaced by the rows, removed or added. */
function patched<R, T extends Revised & { id: string }>(
  known: ReadonlyMap<string, T>,
  ids: ReadonlySet<string> | undefined,
  rows: readonly R[] | undefined,
  read: (row: R) => T,
): ReadonlyMap<string, T> {
  if (ids === undefined || rows === undefined) return known;
  const changed = rows.map(read).map((record) => sameOr(known.get(record.id), record));
  const isKept = changed.every((record) => record === known.get(record.id));
  if (isKept && changedOf(known, ids).length === changed.length) return known;
  const merged = new Map(known);
  const gone = new Set(ids);
  for (const record of changed) {
    merged.set(record.id, record);
    gone.delete(record.id);
  }
  for (const id of gone) merged.delete(id);
  return Object.freeze(merged);
}

function* byId<T extends { id: string }>(records: readonly T[]): Generator<void, ReadonlyMap<string, T>> {
  const all = new Map<string, T>();
  for (const record of records) {
    if (all.size % MAP_SLICE === MAP_SLICE - 1) yield;
    all.set(record.id, record);
  }
  return Object.freeze(all);
}

function byOrder(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}

/** Returns the number of characters in the texts of the rows. */
function sizeOf(rows: readonly Row[]): number {
  let characters = 0;
  for (const row of rows)
    for (const value of Object.values(row))
      if (typeof value === 'string' || value instanceof Uint8Array) characters += value.length;
  return characters;
}

/** Returns about the number of characters that the rows of the records have. */
function sizeOfRecords(records: readonly unknown[]): number {
  return records.reduce<number>((sum, record) => sum + JSON.stringify(record).length, 0);
}

/** Freezes plain objects, arrays and the values of maps recursively. */
export function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freezeDeeply(inner);
  return Object.freeze(value);
}
