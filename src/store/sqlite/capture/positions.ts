import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

// Where each commit ends in the write-ahead log, and when it was durable. The log itself has no times. The file
// `FILE-commits` survives a killed process, so that the log that is left behind can still be restored to each moment.

/** One commit. */
export interface Commit {
  /** Identifies the generation of the log: the salts of its header, in hex. */
  salts: string;
  /** The number of frames in the log, up to and with the commit. */
  frames: number;
  /** The checksum of the last frame, in hex, in the byte order of the log. */
  checksum: string;
  /** Milliseconds since 1970, taken after the commit and before the callers' answers. */
  at: number;
}

const RECORD_BYTES = 32;
const CHECKED_BYTES = 28;
/** The layout of the header of the shared memory (https://www.sqlite.org/walformat.html §2.1), in native byte order. */
const SHM = { bytes: 136, frames: 16, checksum: 24, salts: 32, backfilled: 96 };

/** Returns the path of the file with the commits of a database. */
export function commitsFile(file: string): string {
  return `${file}-commits`;
}

/**
 * Reads the end of the log from the shared memory of the database. The file must stay open while this process uses the
 * database: closing it would release the process's locks on it (https://www.sqlite.org/howtocorrupt.html §2.2).
 */
export class LogIndex {
  readonly #handle: number;
  readonly #buffer = Buffer.alloc(SHM.bytes);

  constructor(file: string) {
    this.#handle = openSync(`${file}-shm`, 'r');
  }

  /** Copies the end of the log into a record of the file with commits. */
  record(at: number, record: Buffer): void {
    readSync(this.#handle, this.#buffer, 0, SHM.bytes, 0);
    // The salts have the byte order of the log, the other numbers the one of this machine.
    this.#buffer.copy(record, 0, SHM.salts, SHM.salts + 8);
    this.#buffer.copy(record, 8, SHM.frames, SHM.frames + 4);
    this.#buffer.copy(record, 12, SHM.checksum, SHM.checksum + 8);
    record.writeDoubleLE(at, 20);
    record.writeUInt32LE(crc32(record.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  }

  /** Returns the number of frames in the log, and how many of them are in the database already. */
  counts(): { frames: number; backfilled: number; salts: string } {
    readSync(this.#handle, this.#buffer, 0, SHM.bytes, 0);
    return {
      frames: this.#buffer.readUInt32LE(SHM.frames),
      backfilled: this.#buffer.readUInt32LE(SHM.backfilled),
      salts: this.#buffer.toString('hex', SHM.salts, SHM.salts + 8),
    };
  }

  /** Must only be called when no connection of this process is open any more. */
  close(): void {
    closeSync(this.#handle);
  }
}

/** Notes the commits of the writer. */
export class CommitNotes {
  readonly #index: LogIndex;
  readonly #handle: number;
  readonly #record = Buffer.alloc(RECORD_BYTES);

  constructor(file: string) {
    this.#index = new LogIndex(file);
    this.#handle = openSync(commitsFile(file), 'a', 0o600);
    // A power failure can leave part of a record behind.
    const { size } = fstatSync(this.#handle);
    ftruncateSync(this.#handle, size - (size % RECORD_BYTES));
  }

  /** Notes the commit that just became durable. Without space on the disk, the next note covers it. */
  note(): void {
    this.#index.record(Date.now(), this.#record);
    try {
      writeSync(this.#handle, this.#record);
    } catch {
      // The commit itself is durable and must be answered.
    }
  }

  /** Must only be called when no connection of this process is open any more. */
  close(): void {
    closeSync(this.#handle);
    this.#index.close();
  }
}

/** Reads the notes that were added since the last call. */
export class CommitReader {
  readonly #handle: number;
  #offset = 0;

  constructor(file: string) {
    this.#handle = openSync(commitsFile(file), 'a+', 0o600);
  }

  read(): readonly Commit[] {
    const { size } = fstatSync(this.#handle);
    const bytes = Buffer.alloc(Math.floor((size - this.#offset) / RECORD_BYTES) * RECORD_BYTES);
    const length = readSync(this.#handle, bytes, 0, bytes.length, this.#offset);
    const commits: Commit[] = [];
    for (let at = 0; at + RECORD_BYTES <= length; at += RECORD_BYTES) {
      const record = bytes.subarray(at, at + RECORD_BYTES);
      // A power failure can leave a record behind that was not written completely.
      if (record.readUInt32LE(CHECKED_BYTES) === crc32(record.subarray(0, CHECKED_BYTES)))
        commits.push(readCommit(record));
      this.#offset += RECORD_BYTES;
    }
    return commits;
  }

  /** Forgets every note, because all of it is in the archive. The writer must be at rest. */
  clear(): void {
    ftruncateSync(this.#handle, 0);
    this.#offset = 0;
  }

  close(): void {
    closeSync(this.#handle);
  }
}

function readCommit(record: Buffer): Commit {
  const checksum = Buffer.from(record.subarray(12, 20)).swap32();
  return {
    salts: record.toString('hex', 0, 8),
    frames: record.readUInt32LE(8),
    checksum: checksum.toString('hex'),
    at: record.readDoubleLE(20),
  };
}
