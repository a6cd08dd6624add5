import type { Outcome } from '../command.ts';
import { type Terminal, terminalWidth } from '../terminal.ts';
import { type Listing, RENDER, renderDocument } from './formats.ts';
import { cellText, pairLines } from './layout.ts';
import { type ListedRecord, type ListOutcome, pluralOf, type RecordOutcome } from './lists.ts';
import type { Presentation } from './presentation.ts';
import { writeAll } from './sink.ts';

/**
 * Writes the list or the record of an outcome to stdout. A list is written while it is read.
 *
 * @param note prints a note for people
 * @throws what reading the list throws
 */
export async function showResult(
  { list, record }: Pick<Outcome, 'list' | 'record'>,
  presentation: Presentation,
  { terminal, note }: { terminal: Terminal; note(message: string): void },
): Promise<void> {
  const { query, fields } = presentation;
  if (query !== undefined) {
    const input = list === undefined ? record?.value : await collect(list);
    const { renderQuery } = await import('./query.ts');
    return writeAll(terminal, renderQuery(input, query));
  }
  if (list !== undefined) return showList(list, presentation, { terminal, note });
  if (record === undefined) return;
  if (presentation.format === 'table' && fields === undefined) {
    const pairs = record.pairs.map(([name, value]) => [name, cellText(value)] as const);
    return writeAll(terminal, once(`${pairLines(pairs, terminalWidth(terminal)).join('\n')}\n`));
  }
  return writeAll(terminal, renderRecord(record, presentation));
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
  { terminal, note }: { terminal: Terminal; note(message: string): void },
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
    ...(fields === undefined ? {} : { fields }),
    ...(width === undefined ? {} : { width }),
    onHidden: (columns) => {
      const titles = columns.map(({ title }) => title).join(', ');
      note(`the terminal is too narrow for ${titles}; --fields chooses the columns`);
    },
  };
  await writeAll(terminal, RENDER[format](listing));
  if (seen.records === 0 && format === 'table' && width !== undefined) note(`there are no ${pluralOf(list)}`);
  const end = list.note?.();
  if (end !== undefined) note(end);
}

/** Renders one record in a format for programs. */
async function* renderRecord(
  record: RecordOutcome,
  { format, fields }: Presentation,
): AsyncGenerator<string> {
  const values = Object.fromEntries(record.pairs.filter(([, value]) => value !== undefined));
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
