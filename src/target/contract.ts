import type { Readable } from 'node:stream';

/** A file of a target. */
export interface TargetFile {
  /** The path below the target, with `/` between its parts. */
  name: string;
  /** The size in bytes. */
  size: number;
}

/** How a file is put into a target. */
export interface PutOptions {
  /** The size in bytes, if it is known. Some targets then need no second request. */
  size?: number;
  /** Whether a file of the same name stays, and the call fails with TARGET_FILE_EXISTS. Default: false. */
  onlyNew?: boolean;
  signal?: AbortSignal;
}

/**
 * A place for copies outside the backup root: a directory, a bucket of S3, a directory of another machine, or a remote of
 * rclone. Names are relative, use `/`, and never contain `.` or `..` as a part.
 */
export interface Target {
  /** The location for messages, without secrets. */
  readonly label: string;
  /** Lists every file whose name begins with `prefix`, in ascending order of the names' bytes. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<TargetFile>;
  /** Reads a file, or `length` bytes of it from `start` on. Throws TARGET_FILE_MISSING if there is no such file. */
  read(name: string, range?: { start: number; length: number }, signal?: AbortSignal): Promise<Readable>;
  /** Returns the size in bytes, or `undefined` if there is no such file. */
  size(name: string, signal?: AbortSignal): Promise<number | undefined>;
  /** Puts a file. It appears under its name only when it is complete; a failed put leaves no file of that name behind. */
  put(name: string, content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<void>;
  /** Removes a file. Does nothing if the file is missing. */
  remove(name: string, signal?: AbortSignal): Promise<void>;
  /**
   * Removes what puts that were killed left behind, if nothing was written to it since `before`, Unix time in
   * milliseconds. Does nothing for a target that keeps no such files.
   */
  removeDrafts(before: number, signal?: AbortSignal): Promise<void>;
  /** Releases connections and processes. */
  close(): Promise<void>;
}
