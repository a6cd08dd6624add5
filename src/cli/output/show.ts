import type { Outcome } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { terminalWidth } from '../terminal.ts';
import { wrapLines } from './display-width.ts';
import { type Listing, RENDER, renderDocument } from './formats.ts';
import { cellText, pairLines } from './layout.ts';
import { type ListedRecord, type ListOutcome, pluralOf, type RecordOutcome } from './lists.ts';
import { printable } from './output.ts';
import type { Presentation } from './presentation.ts';
import { writeAll } from './sink.ts';

/** Where a result goes. */
interface Reader {
  terminal: Terminal;
  /** Prints a note for people. */
  note(message: string): void;
  /** Ends the output, even while nobody reads it. */
  signal: AbortSignal;
}

/**
 * Writes the list or the record of an outcome to stdout. A list is written while it is read.
 *
 * @throws what reading the list throws; the reason of the signal
 */
export async function showResult(
  { list, record }: Pick<Outcome, 'list' | 'record'>,
  presentation: Presentation,
  { terminal, note, signal }: Reader,
): Promise<void> {
  const { query, fields } = presentation;
  if (query !== undefined) {
    const input = list === undefined ? record?.value : await collect(list);
    const { renderQuery } = await import('./query.ts');
    return writeAll(terminal, renderQuery(input, query), signal);
  }
  if (list !== undefined) return showList(list, presentation, { terminal, note, signal });
  if (record === undefined) return;
  if (presentation.format === 'table' && fields === undefined) {
    const pairs = record.pairs.map(([name, value]) => [name, cellText(value)] as const);
    return writeAll(terminal, once(`${pairLines(pairs, terminalWidth(terminal)).join('\n')}\n`), signal);
  }
  return writeAll(terminal, renderRecord(record, presentation), signal);
}

/** Reads the whole list, for formats that need it at once. */
export async function collect({ records }: Pick<ListOutcome, 'records'>): Promise<readonly ListedRecord[]> {
  const all: ListedRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

async function showList(
  list: ListOutcome,
  { format, fields }: Presentation,
  { terminal, note, signal }: Reader,
): Promise<void> {
  const width = terminalWidth(terminal);
  const seen = { records: 0, first: undefined as ListedRecord | undefined };
  const counted = async function* () {
    for await (const record of list.records) {
      seen.records += 1;
      seen.first ??= record;
      yield record;
    }
  };
  const listing: Listing = {
    columns: list.columns,
    name: list.name,
    records: counted(),
    ...(list.empty === undefined ? {} : { empty: list.empty }),
    ...(fields === undefined ? {} : { fields }),
    ...(width === undefined ? {} : { width }),
    onHidden: (columns) => {
      const titles = columns.map(({ title }) => title).join(', ');
      note(`the terminal is too narrow for ${titles}; --fields chooses the columns`);
    },
  };
  const isWhole = format === 'table' && fields === undefined;
  await writeAll(terminal, isWhole ? withContext(list, listing) : RENDER[format](listing), signal);
  if (seen.records === 0 && list.empty === undefined && format === 'table' && width !== undefined)
    note(`there are no ${pluralOf(list)}`);
  const end = list.note?.();
  if (end !== undefined) note(end);
}

/** Renders the table of a list between its intro and its summary. */
async function* withContext({ intro, summary }: ListOutcome, listing: Listing): AsyncGenerator<string> {
  const { width } = listing;
  const before = intro?.(width) ?? [];
  if (before.length > 0) yield `${before.join('\n')}\n\n`;
  yield* RENDER.table(listing);
  if (summary === undefined) return;
  const text = printable(summary);
  yield `${width === undefined ? text : wrapLines(text, width)}\n`;
}

/** Renders one record in a format for programs. */
async function* renderRecord(
  record: RecordOutcome,
  { format, fields }: Presentation,
): AsyncGenerator<string> {
  const values: Record<string, unknown> = {};
  let last = '';
  for (const [name, value] of record.pairs) {
    if (value === undefined) continue;
    // A pair without a name continues the one before it.
    last = name === '' ? last : name;
    values[last] = Object.hasOwn(values, last) ? `${values[last]}; ${value}` : value;
  }
  const whole = format === 'csv' && fields === undefined ? values : record.value;
  const listing: Listing = {
    columns: Object.keys(values).map((name) => ({ title: name.toUpperCase(), field: name })),
    name: record.name,
    records: [whole],
    ...(fields === undefined ? {} : { fields }),
  };
  if (format !== 'json' && format !== 'yaml') {
    yield* RENDER[format](listing);
    return;
  }
  yield* renderDocument(record.value, format, fields);
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
