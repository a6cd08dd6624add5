import { isUrgent } from './urgent.ts';

/** Maximum time in milliseconds for which one slice holds the event loop. */
const SLICE_MS = 4;

/**
 * Divides long work into slices, so that other work runs in between. Call `pause` between two parts of the work, each
 * of which takes less than a millisecond.
 */
export class Slices {
  #until = performance.now() + SLICE_MS;

  /** Whether the current slice is used up. */
  get isOver(): boolean {
    return performance.now() > this.#until;
  }

  /** Lets other work run if the current slice is used up. Urgent work gets at least as much time as this work. */
  async pause(): Promise<void> {
    if (!this.isOver) return;
    await new Promise<void>((resolve) => {
      if (isUrgent()) setTimeout(resolve, SLICE_MS);
      else setImmediate(resolve);
    });
    this.#until = performance.now() + SLICE_MS;
  }
}

/** Maps a list of any length in slices. */
export async function mapInSlices<T, R>(
  items: Iterable<T>,
  map: (item: T) => R,
  slices = new Slices(),
): Promise<R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    if (slices.isOver) await slices.pause();
    mapped.push(map(item));
  }
  return mapped;
}
