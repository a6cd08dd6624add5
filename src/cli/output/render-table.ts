import { stripVTControlCharacters } from 'node:util';

/** Renders a table with a heading and two spaces between the columns. Removes control characters from the values. */
export function renderTable(heading: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [heading, ...rows.map((row) => row.map(renderCell))];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => widthOf(String(line[column] ?? '')))),
  );
  return lines
    .map((line) =>
      heading
        .map((_, column) => {
          const cell = String(line[column] ?? '');
          return column === heading.length - 1 ? cell : cell + ' '.repeat(widths[column]! - widthOf(cell));
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Renders one name and value per line. Omits undefined values. */
export function renderPairs(pairs: readonly (readonly [string, unknown])[]): string {
  const shown = pairs.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => `${renderCell(name).padEnd(width)}  ${renderCell(value)}`.trimEnd())
    .join('\n');
}

function renderCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return stripVTControlCharacters(text).replace(/[\0-\x1f\x7f-\x9f]/g, ' ');
}

function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}
