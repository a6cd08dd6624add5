import type { DatabaseSync } from 'node:sqlite';
import { releaseMemory } from '../../../core/index.ts';
import { withoutFragileText } from '../literals.ts';
import { tableRows } from './table-rows.ts';

/**
 * Approximate size of one INSERT in bytes: large enough that a dump has few statements, and small enough for any
 * reader's memory.
 */
const INSERT_BYTES = 64 * 1024;
/** Maximum size of a batch in bytes. SQLite aborts a larger one, which limits the memory. */
const LONGEST_BATCH = 2 * 1024 * 1024;
const FIRST_BATCH_ROWS = 16;
const MOST_BATCH_ROWS = 4096;
/**
 * Maximum number of times that the batches of a table are restarted with another size. Each restart must skip the rows
 * that are already written.
 */
const BEGINNINGS = 24;
/** SQLITE_TOOBIG (https://www.sqlite.org/rescode.html). */
const TOO_BIG = 18;

const COMMA = Buffer.from(',\n');
const END = Buffer.from(';\n');

/** A range of rows of a table: `rows` rows (-1: all) after the first `start`. */
interface Span {
  start: number;
  rows: number;
}

type BatchesEnd =
  | { outcome: 'all written' }
  /** The batches must continue with this range. */
  | { outcome: 'other size'; next: Span }
  | { outcome: 'too long'; start: number };

/** Receives the text of the rows, and the number of rows in it. */
export interface RowOutput {
  /** Must not use the bytes after it has returned. */
  write(bytes: Uint8Array): void;
  count(rows: number): void;
}

/**
 * Writes all rows of a table as INSERTs of about 64 KB. SQLite joins the rows, because passing single rows to
 * JavaScript takes longer than generating their text.
 */
export function writeRows(database: DatabaseSync, table: string, { write, count }: RowOutput): void {
  const { insert, single, batches } = tableRows(database, table);
  const head = Buffer.from(insert);
  const put = (rows: Buffer, number: number) => {
    write(head);
    write(withoutFragileText(rows));
    write(END);
    count(number);
  };
  let span: Span = { start: 0, rows: FIRST_BATCH_ROWS };
  // Before version 25.8, Node.js cannot limit the size of a batch, so the rows are read one by one.
  if (batches !== undefined && database.limits !== undefined) {
    for (let beginning = 0; beginning < BEGINNINGS; beginning++) {
      const end = writeBatches(database, batches, span, put);
      if (end.outcome === 'all written') return;
      if (end.outcome === 'other size') span = end.next;
      else if (span.rows > 1) span = { start: end.start, rows: Math.ceil(span.rows / 8) };
      else {
        writeSingly(database, single, { start: end.start, rows: 1 }, put);
        span = { start: end.start + 1, rows: FIRST_BATCH_ROWS };
      }
    }
  }
  writeSingly(database, single, { start: span.start, rows: -1 }, put);
}

function writeBatches(
  database: DatabaseSync,
  select: string,
  { start, rows }: Span,
  put: (rows: Buffer, number: number) => void,
): BatchesEnd {
  let at = start;
  try {
    database.limits.length = LONGEST_BATCH;
    const statement = database.prepare(select);
    statement.setReturnArrays(true);
    for (const row of statement.iterate({ $start: start, $rows: rows })) {
      const batch = blobOf(row);
      put(Buffer.from(batch.buffer, batch.byteOffset, batch.byteLength), rows);
      const { length } = batch;
      releaseMemory(batch);
      at += rows;
      const better = betterSize(rows, length);
      if (better !== rows) return { outcome: 'other size', next: { start: at, rows: better } };
    }
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode !== TOO_BIG) throw error;
    return { outcome: 'too long', start: at };
  } finally {
    database.limits.length = Number.POSITIVE_INFINITY;
  }
  return { outcome: 'all written' };
}

/** Returns a better number of rows per batch, if the current batch is much smaller or larger than intended. */
function betterSize(rows: number, bytes: number): number {
  const isNear = bytes >= INSERT_BYTES / 3 && bytes <= INSERT_BYTES * 3;
  if (isNear) return rows;
  return Math.min(MOST_BATCH_ROWS, Math.max(1, Math.round((rows * INSERT_BYTES) / bytes)));
}

/** Writes rows that are read one by one, so that they can have any length. */
function writeSingly(
  database: DatabaseSync,
  select: string,
  { start, rows }: Span,
  put: (rows: Buffer, number: number) => void,
): void {
  const statement = database.prepare(select);
  statement.setReturnArrays(true);
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let number = 0;
  const finish = () => {
    if (bytes > 0) put(Buffer.concat(pieces), number);
    number = 0;
    pieces = [];
    bytes = 0;
  };
  for (const columns of statement.iterate({ $start: start, $rows: rows })) {
    const row = blobOf(columns);
    if (bytes > 0) pieces.push(COMMA);
    pieces.push(row);
    bytes += row.length;
    number += 1;
    if (bytes >= INSERT_BYTES) finish();
  }
  finish();
}

/** Returns the only column of a row. */
function blobOf(row: object): Uint8Array {
  const [blob] = Object.values(row);
  if (!(blob instanceof Uint8Array)) throw new Error('a row of the dump is not a blob');
  return blob;
}
