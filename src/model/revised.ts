/** Where a record carries its revision: no field of its own, so that it is in no representation, file or dump. */
export const REVISION: unique symbol = Symbol('revision');

/**
 * A record that a change replaces as a whole. What the store reads carries what it was read as, and `{...record, x}`
 * takes it along: the store refuses to put a record that is not as it was read. A new one has none.
 */
export interface Revised {
  readonly [REVISION]?: string;
}
