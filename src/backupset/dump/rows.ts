import { releaseMemory } from '../../core/index.ts';
import type { DumpReport, SetHandle, WorkOptions } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { gunzip } from '../gzip/gunzip.ts';
import { createDumpInspector } from './inspector.ts';

/** A row of a dump. It is valid only during the call that receives it. */
export interface DumpRow {
  /** The size of the row's text in the dump in bytes. */
  readonly bytes: number;
  /** Returns a value as text, and null for NULL or a column that does not exist (-1). */
  text(column: number): string | null;
  /** Returns the bytes of a blob or bytea, and null for NULL or a column that does not exist (-1). */
  blob(column: number): Buffer | null;
}

export type RowReader = (row: DumpRow) => void;

/** Receives the rows of a dump, table by table, in the order of the dump. */
export interface RowSink {
  /**
   * Returns the reader for the rows of a table, or undefined to skip them. The reader can be used for several blocks of
   * rows of the same table.
   *
   * @param name without its schema
   */
  table(name: string, columns: readonly string[]): RowReader | undefined;
}

/**
 * Reads the rows of a set's dump in bounded memory. The rows are verified only as far as the dump's syntax: the caller
 * must not use them before this call has returned.
 *
 * @throws IDKIT_DAMAGED if the dump is damaged or truncated
 */
export async function readDumpRows(
  set: SetHandle,
  sink: RowSink,
  options: WorkOptions = {},
): Promise<DumpReport> {
  const inspector = createDumpInspector(sink);
  const content = set.stream(SET_FILES.dump, options);
  for await (const chunk of gunzip(content, SET_FILES.dump, releaseMemory)) inspector.write(chunk);
  return inspector.end();
}
