import { stripVTControlCharacters } from 'node:util';
import { displayWidth, isPlain, longestWord, padTo, wrapWords } from './display-width.ts';
import { valueAt } from './field-path.ts';
import type { Column, ListedRecord } from './lists.ts';
import { printable } from './output.ts';

/** On a terminal with fewer columns, a list is shown as blocks of fields, because hardly any table fits. */
export const NARROWEST_TABLE = 60;

/** The space between two columns. */
export const GAP = 2;

/** How the records of one list become lines. The first records decide about it. */
export interface Layout {
  /** The lines of the heading. Empty for blocks. */
  heading: readonly string[];
  /** The columns that the terminal is too narrow for. */
  hidden: readonly Column[];
  /** Returns the lines of one record. */
  lines(record: ListedRecord): readonly string[];
}

/**
 * Chooses the layout of a list.
 *
 * @param first the first records, which decide how wide each column is
 * @param width the number of columns of the terminal. Undefined without a terminal: nothing is left out or wrapped then
 */
export function chooseLayout(
  columns: readonly Column[],
  first: readonly ListedRecord[],
  width: number | undefined,
): Layout {
  if (width !== undefined && width < NARROWEST_TABLE) return blockLayout(columns, width);
  const sizes = columns.map((column) => {
    const cells = [column.title, ...first.map((record) => cellOf(column, record))];
    return {
      column,
      natural: Math.max(...cells.map(displayWidth)),
      least: Math.max(...cells.map(longestWord)),
    };
  });
  if (width === undefined) {
    const natural = sizes.map((size) => ({ column: size.column, width: size.natural }));
    return tableLayout(natural, { wrap: false });
  }
  for (let shown = sizes; shown.length > 0; shown = withoutLeastImportant(shown)) {
    const widths = fit(shown, width);
    if (widths !== undefined) {
      const kept = new Set(shown.map(({ column }) => column));
      return tableLayout(
        shown.map(({ column }, index) => ({ column, width: widths[index]! })),
        { hidden: columns.filter((column) => !kept.has(column)), wrap: true },
      );
    }
  }
  return blockLayout(columns, width);
}

interface Size {
  column: Column;
  /** The width without wrapping. */
  natural: number;
  /** The width if the cells are wrapped between words. */
  least: number;
}

/** Returns the width of each column, or undefined if they do not fit. Less important columns are wrapped first. */
function fit(sizes: readonly Size[], width: number): readonly number[] | undefined {
  const widths = sizes.map(({ natural }) => natural);
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP * (sizes.length - 1) - width;
  const byImportance = [...sizes.keys()].sort((a, b) => priorityOf(sizes[b]!) - priorityOf(sizes[a]!));
  for (const index of byImportance) {
    if (excess <= 0) break;
    const { natural, least } = sizes[index]!;
    const taken = Math.min(excess, natural - least);
    widths[index] = natural - taken;
    excess -= taken;
  }
  return excess > 0 ? undefined : widths;
}

/** Leaves out the last of the columns with the highest number. Returns an empty list if every column is important. */
function withoutLeastImportant(sizes: readonly Size[]): Size[] {
  const highest = Math.max(...sizes.map(priorityOf));
  if (highest <= 1) return [];
  const index = sizes.findLastIndex((size) => priorityOf(size) === highest);
  return sizes.toSpliced(index, 1);
}

function priorityOf({ column }: Size): number {
  return column.priority ?? 1;
}

function tableLayout(
  shown: readonly { column: Column; width: number }[],
  { hidden = [], wrap }: { hidden?: readonly Column[]; wrap: boolean },
): Layout {
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => padTo(cell, shown[index]!.width))
      .join(' '.repeat(GAP))
      .trimEnd();
  const lines = (cells: readonly string[]): readonly string[] => {
    if (!wrap) return [lineOf(cells)];
    const parts = cells.map((cell, index) => wrapWords(cell, shown[index]!.width));
    const height = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: height }, (_, line) => lineOf(parts.map((part) => part[line] ?? '')));
  };
  return {
    heading: lines(shown.map(({ column }) => column.title)),
    hidden,
    lines: (record) => lines(shown.map(({ column }) => cellOf(column, record))),
  };
}

/** Shows each record as a block of names and values, with an empty line after it. Leaves out empty values. */
function blockLayout(columns: readonly Column[], width: number): Layout {
  return {
    heading: [],
    hidden: [],
    lines: (record) => [
      ...pairLines(
        columns.map((column) => [column.title.toLowerCase(), cellOf(column, record)] as const),
        width,
      ),
      '',
    ],
  };
}

/**
 * Returns the lines of names and values. A value that does not fit next to its name is wrapped between words, or gets
 * its own line if its longest word does not fit. Leaves out empty values.
 */
export function pairLines(
  pairs: readonly (readonly [name: string, value: string])[],
  width: number | undefined,
): readonly string[] {
  const shown = pairs.filter(([, value]) => value !== '');
  const names = Math.max(0, ...shown.map(([name]) => displayWidth(name)));
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - names - GAP;
  return shown.flatMap(([name, value]) => {
    if (longestWord(value) > room)
      return [name, ...wrapWords(value, width! - GAP).map((line) => `  ${line}`)];
    return wrapWords(value, room).map((line, index) => `${padTo(index === 0 ? name : '', names)}  ${line}`);
  });
}

function cellOf(column: Column, record: ListedRecord): string {
  const value = valueAt(record, column.field);
  return cellText(column.show === undefined ? value : column.show(value, record));
}

/** Renders a value on one line without control characters. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return cellText(value.join(', '));
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (isPlain(text)) return text;
  return printable(stripVTControlCharacters(text).replace(/[\0-\x1f\x7f-\x9f]/g, ' '));
}
