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
