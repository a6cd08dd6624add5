import type { Json } from '../representation/json.ts';

/** A list that is read from the store page by page while it is being sent. */
export class Pages {
  /** Every page has at least one entry. */
  readonly pages: AsyncIterable<readonly Json[]>;

  constructor(pages: AsyncIterable<readonly Json[]>) {
    this.pages = pages;
  }
}

/** Converts pages of records to pages of representations, and leaves out empty pages. */
export function shown<Item>(
  pages: AsyncIterable<readonly Item[]>,
  show: (items: readonly Item[]) => readonly Json[] | Promise<readonly Json[]>,
): Pages {
  const converted = async function* () {
    for await (const page of pages) {
      const items = await show(page);
      if (items.length > 0) yield items;
    }
  };
  return new Pages(converted());
}

/** Leaves out the first entries and those after the last one of a range. */
export function within({ pages }: Pages, { first, max }: { first: number; max: number }): Pages {
  const part = async function* () {
    let [skipped, left] = [first, max];
    if (left <= 0) return;
    for await (const page of pages) {
      const items = page.slice(skipped, skipped + left);
      skipped = Math.max(0, skipped - page.length);
      left -= items.length;
      if (items.length > 0) yield items;
      if (left <= 0) return;
    }
  };
  return new Pages(part());
}
