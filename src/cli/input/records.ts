import { IdkitError, isJsonObject } from '../../core/index.ts';
import { findDelimiter, readCsv } from './csv.ts';

/** The format of a file with records: CSV with a header, or one JSON object per line. */
export type RecordFormat = 'csv' | 'jsonl';

/** One record of a file. Either `fields` or `fault` is set. */
export interface InputRecord {
  /** The number of its first line, from 1. */
  line: number;
  fields?: Readonly<Record<string, unknown>>;
  /** Why the record cannot be used. The other records of the file are not affected. */
  fault?: string;
}

/** The records of a file, which are read while they are used. */
export interface InputRecords {
  format: RecordFormat;
  /** The header of a CSV file. */
  columns: readonly string[] | undefined;
  records: AsyncIterable<InputRecord>;
}

/** Maximum number of characters in a line. */
const MOST_CHARACTERS = 1_048_576;

/**
 * Opens a file with records. Detects the format by its first character if `format` is undefined. Cells that are empty
 * are not fields of the record.
 *
 * @param name the name of the file for messages
 * @throws IDKIT_USAGE if the file is empty, not UTF-8, a JSON list, or has a broken header; so does reading `records`
 */
export async function openRecords(
  bytes: AsyncIterable<Uint8Array | string>,
  { format, name }: { format: RecordFormat | undefined; name: string },
): Promise<InputRecords> {
  const chunks = decode(bytes, name);
  const { head, all } = await peek(chunks);
  const start = head.trimStart();
  if (start === '') throw new IdkitError('IDKIT_USAGE', `${name} is empty`);
  if (format === undefined && start.startsWith('['))
    throw new IdkitError('IDKIT_USAGE', `${name} is a JSON list, but it must have one object per line`, {
      hints: [`jq -c '.[]' ${name} converts it`],
    });
  if ((format ?? (start.startsWith('{') ? 'jsonl' : 'csv')) === 'jsonl')
    return { format: 'jsonl', columns: undefined, records: readJsonLines(all) };
  const rows = readCsv(all, findDelimiter(start.split('\n')[0] ?? ''));
  const first = await rows.next();
  const header = first.done === true ? [] : first.value.cells.map((cell) => cell.trim());
  checkHeader(header, name);
  return { format: 'csv', columns: header, records: withHeader(rows, header) };
}

async function* withHeader(
  rows: AsyncIterable<{ line: number; cells: readonly string[] }>,
  header: readonly string[],
): AsyncGenerator<InputRecord> {
  for await (const { cells, line } of rows) {
    if (cells.length !== header.length) {
      yield { line, fault: `the line has ${cells.length} cells, but the header has ${header.length}` };
      continue;
    }
    const given = header.map((column, index) => [column, withoutGuard(cells[index] ?? '')] as const);
    yield { line, fields: Object.fromEntries(given.filter(([, cell]) => cell !== '')) };
  }
}

/** Removes the quote that `-o csv` puts before a text that a spreadsheet would run as a formula. */
function withoutGuard(cell: string): string {
  return /^'+[=+\-@\t]/.test(cell) ? cell.slice(1) : cell;
}

function checkHeader(header: readonly string[], name: string): void {
  const empty = header.indexOf('');
  if (empty !== -1)
    throw new IdkitError('IDKIT_USAGE', `the header of ${name} has no name for column ${empty + 1}`);
  const twice = header.find((column, index) => header.indexOf(column) !== index);
  if (twice !== undefined)
    throw new IdkitError('IDKIT_USAGE', `the header of ${name} contains the column ${twice} twice`);
}

async function* readJsonLines(chunks: AsyncIterable<string>): AsyncGenerator<InputRecord> {
  let line = 0;
  for await (const text of splitLines(chunks)) {
    line += 1;
    if (text.trim() === '') continue;
    yield { line, ...parseLine(text) };
  }
}

function parseLine(text: string): Pick<InputRecord, 'fields' | 'fault'> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser would quote the line, which can contain passwords.
    return { fault: 'the line is not valid JSON' };
  }
  return isJsonObject(value) ? { fields: value } : { fault: 'the line is not a JSON object' };
}

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MOST_CHARACTERS)
      throw new IdkitError('IDKIT_USAGE', `a line is longer than ${MOST_CHARACTERS} characters`);
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Decodes UTF-8 without its byte order mark. */
async function* decode(bytes: AsyncIterable<Uint8Array | string>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const broken = (cause: unknown): IdkitError =>
    new IdkitError('IDKIT_USAGE', `${name} is not UTF-8`, {
      hints: [`iconv -f WINDOWS-1252 -t UTF-8 ${name} converts a file from a spreadsheet`],
      cause,
    });
  for await (const chunk of bytes) {
    let text: string;
    try {
      text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    } catch (error) {
      throw broken(error);
    }
    if (text !== '') yield text;
  }
  try {
    decoder.decode();
  } catch (error) {
    throw broken(error);
  }
}

/** Returns the text up to the end of the first line with characters, and all chunks including that text. */
async function peek(chunks: AsyncGenerator<string>): Promise<{ head: string; all: AsyncIterable<string> }> {
  let head = '';
  while (!head.trimStart().includes('\n') && head.length < MOST_CHARACTERS) {
    const next = await chunks.next();
    if (next.done === true) break;
    head += next.value;
  }
  return {
    head,
    all: (async function* () {
      yield head;
      yield* chunks;
    })(),
  };
}
