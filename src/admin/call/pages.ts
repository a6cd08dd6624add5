import type { Json } from '../representation/json.ts';

/** A list that is read while it is sent. */
export class Pages {
  /** None is empty. */
  readonly pages: AsyncIterable<readonly Json[]>;

  constructor(pages: AsyncIterable<readonly Json[]>) {
    this.pages = pages;
  }
}

/** Pages of records as their administrator sees them. */
export function shown<Item>(
  pages: AsyncIterable<readonly Item[]>,
  show: (items: readonly Item[]) => readonly Json[] | Promise<readonly Json[]>,
): Pages {
  const represented = async function* () {
    for await (const page of pages) {
      const items = await show(page);
      if (items.length > 0) yield items;
    }
  };
  return new Pages(represented());
}
