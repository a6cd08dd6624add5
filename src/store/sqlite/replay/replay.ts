import { closeSync, fsyncSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { IdkitError } from '../../../core/index.ts';
import { mapFault } from '../faults.ts';
import { dropSearchIndex } from '../search-index.ts';

/**
 * Rebuilds a database's file from a base and the log after it. SQLite itself reads the log: it checks the checksum of each
 * frame, and writes only the last version of each page.
 */
export class Replay {
  readonly #file: string;
  #base: number | undefined;
  #log: { handle: number; generation: number; length: number } | undefined;

  /** @param file the file to create; an existing one is replaced */
  constructor(file: string) {
    this.#file = file;
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    this.#base = openSync(file, 'wx', 0o600);
  }

  /** Writes the next part of the base. */
  addBase(bytes: Uint8Array): void {
    writeAll(this.#base!, bytes);
  }

  /**
   * Adds a part of the log. Parts come in order.
   *
   * @throws IDKIT_DAMAGED for a part that does not follow the one before
   */
  addLog(generation: number, start: number, bytes: Uint8Array): void {
    this.#endBase();
    if (this.#log !== undefined && this.#log.generation !== generation) this.#fold();
    this.#log ??= { handle: openSync(`${this.#file}-wal`, 'wx', 0o600), generation, length: 0 };
    if (start !== this.#log.length)
      throw new IdkitError(
        'IDKIT_DAMAGED',
        `the log has a gap at byte ${this.#log.length} of part ${generation}`,
      );
    writeAll(this.#log.handle, bytes);
    this.#log.length += bytes.length;
  }

  /** Cuts the log of the last generation at the end of a transaction, and finishes the file. */
  finish(position: number): void {
    this.#endBase();
    if (this.#log !== undefined) {
      if (position > this.#log.length)
        throw new IdkitError(
          'IDKIT_DAMAGED',
          `the log ends at byte ${this.#log.length} instead of ${position}`,
        );
      ftruncateSync(this.#log.handle, position);
      this.#log.length = position;
      this.#fold();
    }
    this.#discardDerived();
    const handle = openSync(this.#file, 'r');
    fsyncSync(handle);
    closeSync(handle);
  }

  /** Removes what dumps do not contain either, so that the same checks follow. */
  #discardDerived(): void {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(this.#file);
      database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE');
      dropSearchIndex(database);
    } catch (error) {
      throw mapFault(error, this.#file);
    } finally {
      if (database?.isOpen) database.close();
    }
  }

  #endBase(): void {
    if (this.#base === undefined) return;
    closeSync(this.#base);
    this.#base = undefined;
  }

  /** Copies the log into the file. */
  #fold(): void {
    const { handle, length } = this.#log!;
    closeSync(handle);
    this.#log = undefined;
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(this.#file);
      // The next fold, or the end, makes everything durable.
      database.exec('PRAGMA synchronous = OFF');
      const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
      const { log, checkpointed } = { ...database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() };
      const frames = length === 0 ? 0 : (length - 32) / (24 + pageBytes);
      if (log !== frames || checkpointed !== frames)
        throw new IdkitError('IDKIT_DAMAGED', `only ${log} of ${frames} pages of the log are whole`);
    } catch (error) {
      throw mapFault(error, this.#file);
    } finally {
      if (database?.isOpen) database.close();
    }
    for (const suffix of ['-wal', '-shm']) rmSync(`${this.#file}${suffix}`, { force: true });
  }
}

function writeAll(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
}
