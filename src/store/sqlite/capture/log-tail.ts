import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { ShipperGate } from './gate.ts';
import { type Commit, CommitReader, LogIndex } from './positions.ts';

/** Sizes of the log's parts in bytes (https://www.sqlite.org/fileformat2.html#walformat). */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** A longer log is cut, not only begun again. */
const LONG_LOG_BYTES = 256 * 1024 * 1024;

/**
 * A checkpoint is due after this many pages, or after this time in milliseconds. Each one waits for the disk, and the same
 * pages change again and again, so a few large ones cost much less than many small ones.
 */
const CHECKPOINT_FRAMES = 4096;
const CHECKPOINT_MS = 2000;

/** A commit that is not shipped yet. */
export interface TailCommit {
  at: number;
  /** The length of the log in bytes, up to and with the commit. */
  end: number;
}

/** What is in the log after a place of it. */
export interface Tail {
  salts: string;
  commits: readonly TailCommit[];
}

/**
 * The end of the write-ahead log for the thread that ships it. All checkpoints of the database go through it.
 *
 * Its files stay open until the writer has closed the database, because closing them would release the process's locks.
 */
export class LogTail {
  readonly #file: string;
  readonly #gate: ShipperGate;
  readonly #checkpoints: DatabaseSync;
  readonly #guard: DatabaseSync;
  readonly #index: LogIndex;
  readonly #notes: CommitReader;
  readonly #database: number;
  readonly #frameBytes: number;
  #guarding = false;
  #commits: Commit[] = [];
  #log: number | undefined;
  #checkpointAt = 0;

  constructor(file: string, shared: SharedArrayBuffer) {
    this.#file = file;
    this.#gate = new ShipperGate(shared);
    this.#checkpoints = new DatabaseSync(file, { timeout: 1000 });
    this.#checkpoints.exec(
      'PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -1000',
    );
    this.#guard = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
    this.#guard.exec('PRAGMA cache_size = -100');
    const pageBytes = Number(this.#guard.prepare('PRAGMA page_size').get()?.['page_size']);
    this.#frameBytes = FRAME_HEADER_BYTES + pageBytes;
    this.#index = new LogIndex(file);
    this.#notes = new CommitReader(file);
    this.#database = openSync(file, 'r');
    this.keep();
  }

  /** The size of the log's file in bytes. */
  get logBytes(): number {
    const { frames } = this.#index.counts();
    return frames === 0 ? 0 : LOG_HEADER_BYTES + frames * this.#frameBytes;
  }

  /** The generation of the log: the salts of its header. */
  get salts(): string {
    return this.#index.counts().salts;
  }

  /** The size of the database's file in bytes. */
  get databaseBytes(): number {
    return fstatSync(this.#database).size;
  }

  /**
   * Returns the commits of the oldest generation that has commits after `from`, or undefined if there are none.
   *
   * @param from the place up to which everything is shipped
   */
  next(from: { salts: string; end: number } | undefined): Tail | undefined {
    for (const commit of this.#notes.read()) if (commit.frames > 0) this.#commits.push(commit);
    const current = this.salts;
    // Notes of a generation that is neither shipped nor in the log were left by a run that ended long ago.
    this.#commits = this.#commits.filter(
      ({ salts, frames }) => salts === current && (salts !== from?.salts || this.#endOf(frames) > from.end),
    );
    const commits = this.#commits.map(({ at, frames }) => ({ at, end: this.#endOf(frames) }));
    return commits.length === 0 ? undefined : { salts: current, commits };
  }

  /**
   * Reads a part of the log.
   *
   * @throws if the bytes are not the ones that the writer committed
   */
  read(start: number, end: number, salts: string): Buffer {
    this.#log ??= openSync(`${this.#file}-wal`, 'r');
    const bytes = Buffer.allocUnsafe(end - start);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(this.#log, bytes, length, bytes.length - length, start + length);
      if (read === 0) throw new Error(`the log ends at ${start + length} instead of ${end}`);
      length += read;
    }
    if (start === 0 && bytes.toString('hex', 16, 24) !== salts)
      throw new Error('the log was replaced while it was read');
    return bytes;
  }

  /** Reports whether the commits are the ones in the bytes of the log, which begin at `start`. */
  matches(bytes: Buffer, start: number): boolean {
    return this.#commits.every(({ frames, checksum, salts }) => {
      const header = this.#endOf(frames) - this.#frameBytes - start;
      if (header < 0 || header + FRAME_HEADER_BYTES > bytes.length) return true;
      return (
        bytes.readUInt32BE(header + 4) !== 0 &&
        bytes.toString('hex', header + 8, header + 16) === salts &&
        bytes.toString('hex', header + 16, header + 24) === checksum
      );
    });
  }

  /** Keeps the log: begins or renews the read transaction because of which SQLite does not overwrite it. */
  keep(): void {
    const { frames, backfilled } = this.#index.counts();
    // With everything in the database, a new transaction would not protect the log. The present one does.
    if (frames === backfilled) return;
    if (this.#guarding) this.#guard.exec('COMMIT');
    this.#guard.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    this.#guarding = true;
  }

  /** Makes a checkpoint if there is much to copy, or some for a while. */
  checkpointIfDue(): void {
    const { frames, backfilled } = this.#index.counts();
    const now = performance.now();
    if (frames - backfilled < CHECKPOINT_FRAMES && now - this.#checkpointAt < CHECKPOINT_MS) return;
    this.#checkpointAt = now;
    this.checkpoint();
  }

  /** Copies the log into the database as far as the read transaction allows, and keeps the log. */
  checkpoint(): void {
    this.keep();
    if (!this.#guarding) return;
    try {
      this.#checkpoints.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The disk is full or the database busy. The log keeps everything.
    }
  }

  /**
   * Lets SQLite begin the log again. While the writer rests, `shipRest` must ship everything that is left.
   *
   * @param shipRest resolves to true if everything is shipped
   * @returns false if the writer did not rest, or not long enough
   */
  async restart(shipRest: () => Promise<boolean>): Promise<boolean> {
    if (!(await this.#gate.askForRest(200))) return false;
    if (!(await shipRest().catch(() => false))) {
      this.#gate.giveUp();
      return false;
    }
    return this.#gate.letGo(() => this.#letGo());
  }

  /** Gives up what is not shipped, because the log would fill the disk. Returns false if the writer did not rest. */
  async abandon(): Promise<boolean> {
    if (!(await this.#gate.askForRest(200))) return false;
    return this.#gate.letGo(() => this.#letGo());
  }

  #letGo(): void {
    if (this.#guarding) this.#guard.exec('COMMIT');
    this.#guarding = false;
    const mode = this.logBytes > LONG_LOG_BYTES ? 'TRUNCATE' : 'PASSIVE';
    try {
      this.#checkpoints.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch {
      // Another reader is at work. The log grows until the next attempt.
    }
    const { frames, backfilled } = this.#index.counts();
    // Otherwise the log continues, and its commits may still be needed.
    if (frames === backfilled) {
      this.#commits = [];
      this.#notes.clear();
    }
    this.keep();
  }

  /** Reads a part of the database's file. Together with the whole log of this generation, it is a base. */
  readDatabase(start: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(this.#database, bytes, 0, length, start));
  }

  /** Ends the connection that would let SQLite remove the log when the writer closes. */
  endCheckpoints(): void {
    if (this.#checkpoints.isOpen) this.#checkpoints.close();
  }

  /** Lets the writer's last connection remove the log, because everything in it is shipped. */
  release(): void {
    if (this.#guard.isOpen) this.#guard.close();
    this.#guarding = false;
    this.#notes.clear();
  }

  /** Closes everything. The writer must have closed the database. */
  close(): void {
    this.endCheckpoints();
    if (this.#guard.isOpen) this.#guard.close();
    this.#index.close();
    this.#notes.close();
    closeSync(this.#database);
    if (this.#log !== undefined) closeSync(this.#log);
  }

  #endOf(frames: number): number {
    return LOG_HEADER_BYTES + frames * this.#frameBytes;
  }
}

/** Identifies the state of a database's file that nobody has open, so that a change in the meantime is noticed. */
export function fileIdentity(file: string): string | undefined {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino}-${size}-${mtimeNs}-${ctimeNs}`;
  } catch {
    return undefined;
  }
}
