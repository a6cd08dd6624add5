import type { Secret } from '../../core/index.ts';
import type { FileDigest, Verdict, VerifySetOptions } from '../contract.ts';
import type { SetEncryption } from '../openpgp/set-encryption.ts';

/** A file of a set that is being written. `write` also hashes the bytes. */
export interface SetFileWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Syncs the file to disk. */
  close(): Promise<FileDigest>;
}

/**
 * A set that is being written in `ROOT/.partial-NAME-PID`. The directory has mode 0700, and its files have mode 0600.
 */
export interface SetWriter {
  readonly name: string;
  /** The working directory. */
  readonly dir: string;
  /** The files that have been closed, by their names on the disk. */
  readonly files: ReadonlyMap<string, FileDigest>;
  /** Absent if only `env.gpg` is encrypted. */
  readonly encryption?: SetEncryption;
  /** The sizes of the content before its encryption, by the names of the set without encryption. */
  readonly contentSizes: ReadonlyMap<string, number>;
  /** Returns the name that a file has on the disk: with encryption, `NAME.gpg`. */
  nameOnDisk(name: string): string;
  /** Creates a file, encrypted if the set is. @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE */
  createFile(name: string): Promise<SetFileWriter>;
  /** Creates a file with this content. */
  putFile(name: string, content: Uint8Array | string): Promise<FileDigest>;
  /** Creates a file that stays readable in an encrypted set. */
  putReadableFile(name: string, content: string): Promise<FileDigest>;
  /** Writes the checksums of the closed files to `checksums.sha256`. After that, only the seal may be written. */
  writeChecksums(): Promise<void>;
  /** Writes `seal.gpg`, which authenticates the checksums. @throws IDKIT_BUG if the checksums are not written yet */
  writeSeal(passphrase: Secret): Promise<void>;
  /** Reads all files back from the disk and verifies them as `verifySet` does. */
  readBack(options?: VerifySetOptions): Promise<Verdict>;
  /**
   * Syncs the directory, renames it to its final name and syncs the root. Returns the set's absolute path.
   * @throws IDKIT_FAILED if the name exists or the checksums are not written
   */
  publish(): Promise<string>;
  /** Removes the working directory. Does nothing after `publish`. */
  abandon(): Promise<void>;
}
