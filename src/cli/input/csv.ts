import { IdkitError } from '../../core/index.ts';

/** One record of a CSV file. */
export interface CsvRecord {
  /** The number of its first line, from 1. */
  line: number;
  cells: readonly string[];
}

/** Maximum number of characters in a record. A quote that is never closed would otherwise read the whole file. */
const MOST_CHARACTERS = 1_048_576;

/**
 * Reads CSV (RFC 4180) from chunks of text and keeps only one record in memory. Lines end with LF or CRLF. Empty lines
 * are skipped.
 *
 * @throws IDKIT_USAGE with the line, for a quote in the wrong place and for a record that is too long
 */
export async function* readCsv(chunks: AsyncIterable<string>, delimiter: string): AsyncGenerator<CsvRecord> {
  let cells: string[] = [];
  let cell = '';
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  let line = 1;
  let firstLine = 1;
  let length = 0;
  const fault = (text: string): IdkitError => new IdkitError('IDKIT_USAGE', `line ${firstLine}: ${text}`);
  const endCell = (): void => {
    cells.push(cell);
    cell = '';
    state = 'start';
  };
  const isBlank = (): boolean => cells.length === 0 && cell === '' && state === 'start';

  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at]!;
      if (++length > MOST_CHARACTERS) throw fault(`the record is longer than ${MOST_CHARACTERS} characters`);
      if (state === 'quoted') {
        if (character === '"') state = 'closed';
        else cell += character;
        if (character === '\n') line += 1;
      } else if (character === '"') {
        if (state === 'plain') throw fault('a quote is inside a cell without quotes');
        // A second quote after a closing one stands for a quote in the text.
        if (state === 'closed') cell += '"';
        state = 'quoted';
      } else if (character === delimiter) endCell();
      else if (character === '\n') {
        line += 1;
        if (!isBlank()) {
          endCell();
          yield { line: firstLine, cells };
        }
        cells = [];
        firstLine = line;
        length = 0;
      } else if (character !== '\r') {
        if (state === 'closed') throw fault('text follows a closing quote');
        cell += character;
        state = 'plain';
      }
    }
  }
  if (state === 'quoted') throw fault('a quote is not closed');
  if (isBlank()) return;
  endCell();
  yield { line: firstLine, cells };
}

/**
 * Returns the delimiter of a file: the one of comma, semicolon and tab that its first line contains most often outside
 * quotes. Spreadsheets use the semicolon in countries with a decimal comma.
 */
export function findDelimiter(firstLine: string): string {
  const plain = firstLine.replace(/"[^"]*"/g, '');
  const count = (delimiter: string): number => plain.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best));
}
