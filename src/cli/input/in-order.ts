/** The result of the work on one item: its value, or the error that the work threw. */
export type Settled<T> = { value: T } | { error: unknown };

/**
 * Works on the items of a source in parallel and yields the results in the order of the items. At most `parallel` items
 * are in memory.
 */
export async function* mapInOrder<Item, T>(
  source: AsyncIterable<Item>,
  parallel: number,
  work: (item: Item) => Promise<T>,
): AsyncGenerator<Settled<T>> {
  const running: Promise<Settled<T>>[] = [];
  for await (const item of source) {
    running.push(
      work(item).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    );
    if (running.length >= parallel) yield await running.shift()!;
  }
  for (const one of running) yield await one;
}
