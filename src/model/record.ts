import type { Secret } from '../core/index.ts';

/** Kinds of records that a change reads and writes as a whole. `groups` is the tree of all groups of a realm. */
export type RecordKind = 'realm' | 'client' | 'scope' | 'role' | 'group' | 'groups' | 'component' | 'user';

/**
 * Returns the name of the turn (core, `inTurn`) in which a record is read and written. The turn is named after the
 * record's id, which is unique in the database, because the record's name may change during the wait. For `groups` it
 * is the id of the realm.
 */
export function recordKey(kind: RecordKind, id: string): string {
  return `${kind}:${id}`;
}

/** Returns the name of the turn for the whole record of a user. */
export function userTurn(userId: string): string {
  return recordKey('user', userId);
}

/** The key of a record's revision. A symbol, so that no representation, file or dump contains it. */
export const REVISION: unique symbol = Symbol('revision');

/**
 * A record that changes replace as a whole. Records from the store carry a revision, which `{...record, x}` copies. The
 * store rejects a record that has changed since it was read. A new record has no revision.
 */
export interface Revised {
  readonly [REVISION]?: string;
}

/**
 * The secrets of one record, by JSON pointer (RFC 6901) into its representation: `/secret` of a client,
 * `/config/privateKey/0` of a key component. The record itself does not contain them. The store seals them together.
 */
export type Secrets = Readonly<Record<string, Secret>>;
