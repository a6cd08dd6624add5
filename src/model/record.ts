import type { Secret } from '../core/index.ts';

/** Kinds of records that a change reads and writes as a whole; `groups` is how all groups of a realm hang together. */
export type RecordKind = 'realm' | 'client' | 'scope' | 'role' | 'group' | 'groups' | 'component' | 'user';

/**
 * The name of the turn (core, `inTurn`) in which a record is read and written. It holds the id alone, which no two
 * records of the database share, and no name, which may change while somebody waits; that of `groups` is the realm's.
 */
export function recordKey(kind: RecordKind, id: string): string {
  return `${kind}:${id}`;
}

/** The turn in which the whole record of a user is read and written. */
export function userTurn(userId: string): string {
  return recordKey('user', userId);
}

/** Where a record carries its revision: no field of its own, so that it is in no representation, file or dump. */
export const REVISION: unique symbol = Symbol('revision');

/**
 * A record that a change replaces as a whole. What the store reads carries what it was read as, and `{...record, x}`
 * takes it along: the store refuses to put a record that is not as it was read. A new one has none.
 */
export interface Revised {
  readonly [REVISION]?: string;
}

/**
 * The secrets of one record, by JSON pointer (RFC 6901) into its representation: a client has `/secret`, a key
 * component `/config/privateKey/0`. The record itself never holds them; the store seals them together.
 */
export type Secrets = Readonly<Record<string, Secret>>;
