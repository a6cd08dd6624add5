import { cellText, chooseLayout, pairLines } from './layout.ts';
import type { Column, ListedRecord } from './lists.ts';

/**
 * Renders a table within a text. A command whose whole result is one list has a `list` in its outcome instead. Nobody is
 * notified of columns that are left out, so each column should be important.
 *
 * @param width the number of columns of the terminal. Undefined without a terminal: nothing is left out or wrapped then
 */
export function renderTable(
  columns: readonly Column[],
  records: readonly ListedRecord[],
  width: number | undefined,
): string {
  const { heading, lines } = chooseLayout(columns, records, width);
  return [...heading, ...records.flatMap(lines)].join('\n').trimEnd();
}

/** Renders one name and value per line. Omits undefined values. @param width as in `renderTable` */
export function renderPairs(
  pairs: readonly (readonly [name: string, value: unknown])[],
  width: number | undefined,
): string {
  return pairLines(
    pairs.map(([name, value]) => [name, cellText(value)] as const),
    width,
  ).join('\n');
}
