/** The largest number of bytes of a database or of its log in one file of an archive, before compression. */
export const LARGEST_PART = 16 * 1024 * 1024;

/** What a file of a chain holds. `chain` and `base-end` have no content of their own. */
export type FileKind = 'chain' | 'base' | 'base-end' | 'log';

/** A moment that can be restored exactly: the end of a transaction. */
export interface Mark {
  /** The time in milliseconds since 1970, taken after the commit and before the answer to the caller. */
  at: number;
  /** The length in bytes of the log of this generation, up to and with the transaction. */
  position: number;
}

/** Facts that only the kind of database understands, such as positions of the log of Postgres. */
export type Detail = Readonly<Record<string, string | number | boolean | null>>;

/** The first line of each file of an archive. It is authenticated with `mac`. */
export interface FileHeader {
  format: 1;
  /** The key of the platform that wrote the file, as a number that reveals nothing about it. */
  platform: string;
  chain: string;
  /** The name of the file within its chain. A file that was renamed is found by it. */
  name: string;
  kind: FileKind;
  /** The base that the file belongs to, from 1. 0 for `chain` and `log`. */
  base: number;
  /** The position among the files of the kind in the chain or in the base, from 1. */
  number: number;
  /** The SHA-256 of the first line of the preceding file. The first parts of each base and the first log follow `chain`. */
  previous: string | null;
  /** Size and SHA-256 of what follows the first line, and the size of the content in it. */
  size: number;
  sha256: string;
  bytes: number;
  /**
   * The generation of the log, and where the content begins in it. In `base-end`: where the log begins that the base
   * needs; its mark is the first moment that can be restored with the base. 0 for other kinds.
   */
  generation: number;
  start: number;
  marks: readonly Mark[];
  detail: Detail;
}

/** The last file with log before a place in the chain. Number 0 is the file `chain` itself. */
export interface LogEnd {
  number: number;
  hash: string;
}

/** The end of a complete base: from where the chain can be restored with it. */
export interface BaseEnd {
  /** The number of the base in its chain. */
  base: number;
  parts: number;
  /** The log that the base needs begins with this generation, in the file after `after`. */
  generation: number;
  after: LogEnd;
  /** The first moment that can be restored, in generation `firstGeneration`. */
  first: Mark;
  firstGeneration: number;
  detail: Detail;
}

/** The name of a file with log, as the listing of a target shows it. */
export interface LogName {
  name: string;
  generation: number;
  number: number;
  /** The time of the last transaction in the file, in milliseconds since 1970. */
  until: number;
}

/** A file of an archive after all its checks. */
export interface OpenedFile {
  header: FileHeader;
  /** The SHA-256 of the header's line, to which the next file refers. */
  hash: string;
  content: Buffer;
}
