/** Number of records in one slice: that of the first one, and the bounds. */
const LIMITS = { first: 100, smallest: 100, largest: 5_000 };
/** The share of a slice's time that passes before the next slice. */
const REST = 0.5;

/**
 * Adapts the number of records in a slice of long work to the time that slices take, so that the work delays nothing
 * else noticeably.
 */
export class SliceSize {
  limit: number;
  readonly #target: number;
  readonly #smallest: number;

  /**
   * @param target time in milliseconds that a slice should take
   * @param limits number of records in the first slice, and the minimum of each slice
   */
  constructor(target: number, { first, smallest }: { first: number; smallest: number } = LIMITS) {
    this.#target = target;
    this.limit = first;
    this.#smallest = smallest;
  }

  /**
   * Adapts the limit after a full slice. It changes at most by half, because one slow slice may have other reasons.
   *
   * @param took time in milliseconds
   * @returns the pause before the next slice, in milliseconds
   */
  adapt(took: number): number {
    const next = Math.round(this.limit / Math.min(2, Math.max(0.5, took / this.#target)));
    this.limit = Math.min(LIMITS.largest, Math.max(this.#smallest, next));
    return took * REST;
  }
}
