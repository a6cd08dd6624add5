import { wrapLines } from './display-width.ts';
import { pickFields, valueAt } from './field-path.ts';
import { chooseLayout } from './layout.ts';
import type { Column, ListedRecord, ListOutcome } from './lists.ts';
import { printable } from './output.ts';

/** The values of `-o`. */
export const FORMATS = ['table', 'json', 'yaml', 'csv', 'name'] as const;
export type Format = (typeof FORMATS)[number];

/** What a format needs to know about a list. */
export interface Listing extends Pick<ListOutcome, 'columns' | 'records' | 'name' | 'empty'> {
  /** The fields of `--fields`. Undefined: the columns of the list, and all fields in JSON and YAML. */
  fields?: readonly string[];
  /** The number of columns of the terminal. Undefined without a terminal. */
  width?: number;
  /** Receives the columns that the terminal is too narrow for. */
  onHidden?: (columns: readonly Column[]) => void;
}

/** Renders a list while it is read. Yields some lines at a time. */
export const RENDER: Readonly<Record<Format, (listing: Listing) => AsyncIterable<string>>> = {
  table: renderTable,
  json: renderJson,
  yaml: renderYaml,
  csv: renderCsv,
  name: renderNames,
};

/** Number of records whose widths decide the layout. As many records are requested first, so that a list starts soon. */
export const FIRST_RECORDS = 100;
/** Number of records that are rendered together after that. */
const RECORDS = 1_000;

/** Splits records into batches. The first batch is small. Yields no empty batch. */
export async function* inBatches(
  records: ListOutcome['records'],
): AsyncGenerator<readonly ListedRecord[], void, void> {
  let batch: ListedRecord[] = [];
  let size = FIRST_RECORDS;
  for await (const record of records) {
    batch.push(record);
    if (batch.length < size) continue;
    yield batch;
    [batch, size] = [[], RECORDS];
  }
  if (batch.length > 0) yield batch;
}

async function* renderTable(listing: Listing): AsyncGenerator<string> {
  const columns = columnsOf(listing);
  let layout: ReturnType<typeof chooseLayout> | undefined;
  for await (const batch of inBatches(listing.records)) {
    const lines: string[] = [];
    if (layout === undefined) {
      layout = chooseLayout(columns, batch, listing.width);
      lines.push(...layout.heading);
      if (layout.hidden.length > 0) listing.onHidden?.(layout.hidden);
    }
    for (const record of batch) lines.push(...layout.lines(record));
    yield text(lines);
  }
  if (layout !== undefined) return;
  const { empty, width } = listing;
  if (empty === undefined) yield text(chooseLayout(columns, [], width).heading);
  else yield text([width === undefined ? printable(empty) : wrapLines(printable(empty), width)]);
}

/** A column of `--fields` is never left out, because the user named it. */
function columnsOf({ columns, fields }: Listing): readonly Column[] {
  if (fields === undefined) return columns;
  return fields.map((field) => {
    const known = columns.find((column) => column.field === field);
    return known === undefined ? { title: field.toUpperCase(), field } : { ...known, priority: 1 };
  });
}

async function* renderJson(listing: Listing): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const batch of inBatches(listing.records)) {
    yield `${isEmpty ? '[' : ','}\n${batch.map((record) => `  ${jsonOf(record, listing)}`).join(',\n')}`;
    isEmpty = false;
  }
  yield isEmpty ? '[]\n' : '\n]\n';
}

function jsonOf(record: ListedRecord, { fields }: Listing): string {
  return printable(JSON.stringify(fields === undefined ? record : pickFields(record, fields)));
}

async function* renderYaml(listing: Listing): AsyncGenerator<string> {
  const { stringify } = await import('yaml');
  const { fields } = listing;
  let isEmpty = true;
  for await (const batch of inBatches(listing.records)) {
    isEmpty = false;
    const shown = fields === undefined ? batch : batch.map((record) => pickFields(record, fields));
    yield printable(stringify(shown, { lineWidth: 0 }));
  }
  if (isEmpty) yield '[]\n';
}

/** CSV of RFC 4180 with a heading of field paths, so that it does not depend on the headings for people. */
async function* renderCsv(listing: Listing): AsyncGenerator<string> {
  const fields = listing.fields ?? listing.columns.map(({ field }) => field);
  yield csvLine(fields);
  for await (const batch of inBatches(listing.records)) {
    yield batch.map((record) => csvLine(fields.map((field) => valueAt(record, field)))).join('');
  }
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const raw = printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
  // A spreadsheet would run a text such as =HYPERLINK(…) as a formula. Users choose some of these texts themselves.
  const safe = typeof value === 'string' && /^'*[=+\-@\t]/.test(raw) ? `'${raw}` : raw;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

async function* renderNames(listing: Listing): AsyncGenerator<string> {
  for await (const batch of inBatches(listing.records)) {
    yield text(
      batch.map((record) => printable(String(valueAt(record, listing.name) ?? '')).replaceAll('\n', '\\n')),
    );
  }
}

function text(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Renders one record as a JSON or YAML document. */
export async function* renderDocument(
  record: ListedRecord,
  format: 'json' | 'yaml',
  fields: readonly string[] | undefined,
): AsyncGenerator<string> {
  const shown = fields === undefined ? record : pickFields(record, fields);
  if (format === 'json') {
    yield printable(`${JSON.stringify(shown, null, 2)}\n`);
    return;
  }
  const { stringify } = await import('yaml');
  yield printable(stringify(shown, { lineWidth: 0 }));
}
