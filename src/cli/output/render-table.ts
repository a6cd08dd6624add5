import { displayWidth, longestWord, padTo, wrapWords } from './display-width.ts';
import { cellText, GAP, NARROWEST_TABLE, pairLines } from './layout.ts';

/** Minimum width in columns of the last column. If there is less room, its texts go below their rows. */
const NARROWEST_LAST_COLUMN = 30;

/** Indentation of a text below its row. */
const DEEP = '    ';

/**
 * Renders a table with a heading and two spaces between the columns. Removes control characters from the values.
 *
 * @param width the number of columns of the terminal. A table that does not fit wraps its last column between words, or
 *   shows it below each row. Undefined without a terminal: nothing is wrapped then
 */
export function renderTable(
  heading: readonly string[],
  rows: readonly (readonly unknown[])[],
  width?: number,
): string {
  const lines = rows.map((row) => heading.map((_, column) => cellText(row[column])));
  if (width !== undefined && width < NARROWEST_TABLE) {
    return lines.map((cells) => pairLines(pairsOf(heading, cells), width).join('\n')).join('\n\n');
  }
  const widths = heading.map((title, column) =>
    Math.max(displayWidth(title), ...lines.map((cells) => displayWidth(cells[column]!))),
  );
  if (width === undefined || total(widths) <= width) {
    return [heading, ...lines].flatMap((cells) => wrapRow(cells, widths)).join('\n');
  }
  const left = widths.slice(0, -1);
  const room = width - total(left) - GAP;
  const longest = Math.max(...lines.map((cells) => longestWord(cells.at(-1)!)));
  if (room >= Math.max(NARROWEST_LAST_COLUMN, longest)) {
    return [heading, ...lines].flatMap((cells) => wrapRow(cells, [...left, room])).join('\n');
  }
  const fitted = narrowWidest(left, width);
  return [
    ...wrapRow(heading.slice(0, -1), fitted),
    ...lines.flatMap((cells) => [
      ...wrapRow(cells.slice(0, -1), fitted),
      ...(cells.at(-1) === ''
        ? []
        : wrapWords(cells.at(-1)!, width - DEEP.length).map((line) => DEEP + line)),
    ]),
  ].join('\n');
}

/**
 * Renders one name and value per line. Omits undefined values.
 *
 * @param width the number of columns of the terminal, in which values are wrapped between words. Undefined without a
 *   terminal: nothing is wrapped then
 */
export function renderPairs(pairs: readonly (readonly [string, unknown])[], width?: number): string {
  const shown = pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [cellText(name), cellText(value)] as const);
  const names = Math.max(0, ...shown.map(([name]) => displayWidth(name)));
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - names - GAP;
  return shown
    .flatMap(([name, value]) =>
      wrapWords(value, room).map((line, index) =>
        `${padTo(index === 0 ? name : '', names)}  ${line}`.trimEnd(),
      ),
    )
    .join('\n');
}

function pairsOf(
  heading: readonly string[],
  cells: readonly string[],
): readonly (readonly [string, string])[] {
  return heading.map((title, column) => [title.toLowerCase(), cells[column]!] as const);
}

/** Returns the lines of one row, with its cells wrapped between words. */
function wrapRow(cells: readonly string[], widths: readonly number[]): readonly string[] {
  const parts = cells.map((cell, column) => wrapWords(cell, widths[column]!));
  const height = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    parts
      .map((part, column) => padTo(part[line] ?? '', widths[column]!))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** Takes what is too much from the widest column. */
function narrowWidest(widths: readonly number[], width: number): readonly number[] {
  const excess = Math.max(0, total(widths) - width);
  const widest = widths.indexOf(Math.max(...widths));
  return widths.map((each, column) => (column === widest ? Math.max(1, each - excess) : each));
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
}
