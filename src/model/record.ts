import type { Secret } from '../core/index.ts';

/** The kinds of records that are read and written as a whole. `groups` is the tree of all groups of a realm. */
export type RecordKind = 'realm' | 'client' | 'scope' | 'role' | 'group' | 'groups' | 'component' | 'user';

/**
 * Returns the name of the lock under which a record is read and written (see `inTurn` in core). It contains the
 * record's id, because the record's name may change while a caller waits. For `groups`, `id` is the id of the realm.
 */
export function recordKey(kind: RecordKind, id: string): string {
  return `${kind}:${id}`;
}

/** Returns the name of the lock under which a user is read and written. */
export function userTurn(userId: string): string {
  return recordKey('user', userId);
}

/** The key of a record's revision. It is a symbol, so that representations, files and dumps never contain it. */
export const REVISION: unique symbol = Symbol('revision');

/**
 * A record that is replaced as a whole. Records from the store have a revision, which `{...record, x}` copies. The
 * store rejects the replacement if the record has changed since it was read. A new record has no revision.
 */
export interface Revised {
  readonly [REVISION]?: string;
}

/**
 * The secrets of a record, by JSON pointer (RFC 6901) into its representation, for example `/secret` of a client or
 * `/config/privateKey/0` of a key component. The record itself does not contain them. The store encrypts them together.
 */
export type Secrets = Readonly<Record<string, Secret>>;
