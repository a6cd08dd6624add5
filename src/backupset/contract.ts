import type { ErrorCode, Secret } from '../core/index.ts';

/** The fixed file names of a set. */
export const SET_FILES = {
  dump: 'keycloak-db.sql.gz',
  config: 'config.tar.gz',
  environment: 'env.gpg',
  manifest: 'manifest.json',
  checksums: 'checksums.sha256',
  /** A symmetric OpenPGP message over the checksums. The checksums do not list it. */
  seal: 'seal.gpg',
} as const;

/** The parts of a set. `--only` selects some of them. */
export type SetPart = 'database' | 'realms' | 'config' | 'env';

/** Options of every long call. `onProgress` receives the bytes done and, if it is known, their total. */
export interface WorkOptions {
  signal?: AbortSignal;
  onProgress?: (done: number, total?: number) => void;
}

/** A directory in a backup root that has a set's name and is not a link. */
export interface ListedSet {
  /** `YYYYMMDD_HHMMSS`. */
  name: string;
  /** Absolute path. */
  dir: string;
  /** Milliseconds since the Unix epoch, from the name. */
  startedAt: number;
  /** True if the set is dated more than an hour ahead of `now`. */
  future: boolean;
}

/** The directories in a backup root that belong to idkit. Anything else is not listed. */
export interface RootListing {
  /** Oldest first. */
  sets: readonly ListedSet[];
  /** Names of `.partial-…` directories: unfinished backups, and backups that run now. */
  partials: readonly string[];
  /** Names of `.trash-…` directories: unfinished deletions. */
  trash: readonly string[];
}

/** The plan for the name of a set that begins now. */
export interface PlannedName {
  name: string;
  /** The time of the name in milliseconds since the Unix epoch. */
  startedAt: number;
  /** Wait this long before the set begins, because another set has this second. */
  waitMilliseconds: number;
  /** The newest set is ahead of the clock, and the name follows it. A backup reports this as a finding. */
  clockBehind: boolean;
}

/** One line of `checksums.sha256`. */
export interface ChecksumEntry {
  name: string;
  /** 64 lower-case hex digits. */
  sha256: string;
}

/** The size and hash of a file that was written or read. */
export interface FileDigest {
  bytes: number;
  /** 64 lower-case hex digits. */
  sha256: string;
}

/** A realm in the manifest. */
export interface ManifestRealm {
  realm: string;
  /** Users in the snapshot of the dump, without service accounts. Absent if the dump does not contain the realm. */
  users?: number;
  /** The realm file in the set. Absent if the realm is not in the configured list. */
  file?: string;
}

/** `manifest.json` */
export interface Manifest {
  /** Format 2 can say that a set is sealed. */
  formatVersion: 1 | 2;
  idkitVersion: string;
  /** The time in the set's name, in ISO 8601 and UTC. */
  startedAt: string;
  parts: readonly SetPart[];
  /** True if there is a `seal.gpg`, because the backup had a passphrase. Absent in format 1. */
  sealed?: boolean;
  service: { kind: 'idkit' | 'keycloak'; version: string };
  /** Absent in a set without the database. */
  database?: { kind: 'sqlite' | 'postgres'; version: string; schemaVersion: number; bytes: number };
  realms: readonly ManifestRealm[];
  /** The source of the realm files. Absent in a set without them. */
  realmSource?: 'api' | 'snapshot';
  /** The size in bytes of every file except this one, the checksums and the seal. */
  files: Readonly<Record<string, number>>;
  /** The duration of each step, in order. */
  steps: readonly { id: string; milliseconds: number }[];
}

/** What a dump contains, known when it was read to its end line. */
export interface DumpReport {
  kind: 'sqlite' | 'postgres';
  /** The size of the SQL in bytes. */
  bytes: number;
  /** SQLite: `PRAGMA user_version`. Postgres: idkit's schema version, or Keycloak's version as a number (26.7.3 is 260703). */
  schemaVersion?: number;
  /** The number of users by realm, without service accounts. Undefined if the tables of the dump are not known. */
  realms?: readonly { realm: string; users: number }[];
  /** The short rows of idkit's table `meta`, value by name. They show which master key the dump needs. */
  meta?: ReadonlyMap<string, string>;
  postgres?: PostgresDumpFacts;
}

/** The origin of a Postgres dump, and what it needs when it is loaded. */
export interface PostgresDumpFacts {
  /** The comments before the first statement. */
  head: string;
  /** `15.18`. */
  serverVersion?: string;
  /** The version of the `pg_dump` that wrote it. */
  dumpVersion?: string;
  /** The version that last migrated the schema, such as `26.7.3`. */
  keycloakVersion?: string;
  /**
   * The rows are INSERTs, as `pg_dump --inserts` writes them. So service, schema and key are unknown until it is loaded.
   */
  unread?: true;
  /** The roles that own an object in it or have privileges. */
  roles: readonly string[];
}

/** A file that the archive of the configuration left out, and why. */
export interface LeftOut {
  /** Relative to the configuration directory. */
  path: string;
  why:
    | 'link leaves'
    | 'socket'
    | 'fifo'
    | 'device'
    | 'environment name'
    | 'name is not UTF-8'
    | 'vanished while read'
    | 'unreadable'
    /** The file is in the archive but may be inconsistent, because something wrote to it. */
    | 'changed while read';
}

/** The paths of what `config.tar.gz` contains. A path that is absent or does not exist is left out. */
export interface ArchiveSource {
  configDir?: string;
  idkitYaml?: string;
  composeYaml?: string;
  /** Left out without a report, under any name and behind any link. */
  environmentFile?: string;
}

export interface ArchiveReport {
  entries: number;
  /** The size of the archive in bytes before compression. */
  bytes: number;
  leftOut: readonly LeftOut[];
}

/** An entry of a configuration archive that passed every rule. */
export interface ArchiveEntry {
  /** Without a trailing slash: `config`, `config/…`, `idkit.yaml` or `compose.yaml`. */
  path: string;
  type: 'file' | 'directory' | 'link';
  /** Permission bits, at most 0777. */
  mode: number;
  /** Seconds since the Unix epoch. */
  mtime: number;
  /** The size of a file in bytes; 0 for any other entry. */
  size: number;
  /** The target of a link. */
  target?: string;
}

/** The result of opening an OpenPGP message. */
export type MessageOpened =
  /** `filename` is the name inside the message, often empty. */
  | { outcome: 'opened'; bytes: Uint8Array; filename: string }
  /** The message does not open with this passphrase (12). A changed message gives the same result. */
  | { outcome: 'wrong passphrase' }
  /** The file is not an OpenPGP message, is truncated, or has no integrity protection (13). */
  | { outcome: 'damaged'; why: string }
  /** idkit does not support the cipher (14). `command` is the gpg command that opens the message. */
  | { outcome: 'unsupported cipher'; cipher: string; command: string };

/** One fault of a set. */
export interface SetProblem {
  /** The file with the fault, or the set's name if no file has it. */
  file: string;
  code: Extract<ErrorCode, 'IDKIT_DAMAGED' | 'IDKIT_CREDENTIALS' | 'IDKIT_VERSION'>;
  /** What is wrong. The message does not repeat the file's name. */
  message: string;
  hints: readonly string[];
}

/**
 * `holds`: somebody who knew the passphrase made the checksums for this set. `not checked`: there is a seal, and it was
 * not opened. `unsealed`: there is no seal. `broken`: the seal is wrong, so nothing in the set is trusted.
 */
export type SealState = 'holds' | 'not checked' | 'unsealed' | 'broken';

/** The checksums of a set, read once, and the state of its seal. */
export interface SealedList {
  seal: SealState;
  /** The faults of `checksums.sha256` and the seal. */
  problems: readonly SetProblem[];
  notes: readonly string[];
  /** Absent if the checksums cannot be read. */
  list?: {
    entries: readonly ChecksumEntry[];
    /** The size of the list and the seal in bytes. */
    bytes: number;
    /** The hash of `checksums.sha256`. */
    sha256: string;
  };
}

/** The result of verifying one set from its bytes alone. */
export interface Verdict {
  /**
   * `damaged` 13, `passphrase` 12, `unreadable` 14. Damage takes precedence over a wrong passphrase, and that over an
   * unsupported cipher.
   */
  verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable';
  /** The error code of the verdict. Absent for a good set. */
  code?: SetProblem['code'];
  problems: readonly SetProblem[];
  notes: readonly string[];
  seal: SealState;
  /** Empty if no part was found. */
  parts: readonly SetPart[];
  /** Present if the set has a readable dump. */
  dump?: DumpReport;
  manifest?: Manifest;
  /** The realms with the users that the dump counts, else the manifest, and with their realm files. */
  realms: readonly ManifestRealm[];
  /** The number of listed files, plus the checksums and the seal. */
  files: number;
  bytes: number;
  /** The hash of `checksums.sha256`, which binds a kept verdict to these bytes. Absent if the list cannot be read. */
  checksumsSha256?: string;
  /** The checksums, which later reads are compared with. Empty if the list cannot be read. */
  entries: readonly ChecksumEntry[];
}

export interface VerifySetOptions extends WorkOptions {
  /** If it is absent, env.gpg is inspected but not opened, and a note says so. */
  passphrase?: Secret;
  /** Checks the decrypted content of env.gpg. A `fault` is damage, a `note` is not. */
  judgeEnvironment?: (plain: Uint8Array) => { fault?: string; note?: string };
  /** The earlier result of `checkSeal`. The checksums are then not read again. */
  sealed?: SealedList;
}

/** A verdict as stored in `ROOT/.state/NAME.json`. */
export interface KeptVerdict {
  /** ISO 8601, UTC. */
  at: string;
  verdict: Verdict['verdict'];
  checksumsSha256: string;
  problems: readonly string[];
  /** Absent if an older idkit stored it. */
  seal?: SealState;
}

/** A read-only view of a set's directory. Only regular files are opened, and links are not followed. */
export interface SetHandle {
  readonly name: string;
  /** The absolute path without links. */
  readonly dir: string;
  /** The time in the name, in milliseconds since the Unix epoch. */
  readonly startedAt?: number;
  /** The names of all entries in the directory, sorted bytewise. */
  readonly names: readonly string[];
  /** Reads a small file as a whole. @throws IDKIT_DAMAGED if it is missing, not regular or longer than `maxBytes` */
  read(name: string, maxBytes?: number): Promise<Buffer>;
  /** Streams a file's bytes in order. @throws IDKIT_DAMAGED if it is missing or not regular */
  stream(name: string, options?: WorkOptions): AsyncIterable<Buffer>;
  /** Returns the size of a regular file in bytes. @throws IDKIT_DAMAGED if it is missing or not regular */
  size(name: string): Promise<number>;
}

/** A file of a set that is being written. `write` also hashes the bytes. */
export interface SetFileWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Syncs the file to disk. */
  close(): Promise<FileDigest>;
}

/** A set that is being made in `ROOT/.partial-NAME-PID`. The mode of the directory is 0700, of files 0600. */
export interface SetWriter {
  readonly name: string;
  /** The working directory. */
  readonly dir: string;
  /** The files that are closed so far. */
  readonly files: ReadonlyMap<string, FileDigest>;
  /** Begins a file. @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE */
  createFile(name: string): Promise<SetFileWriter>;
  /** Writes a whole file. */
  putFile(name: string, content: Uint8Array | string): Promise<FileDigest>;
  /** Writes `checksums.sha256` over the closed files. After it, only the seal may be written. */
  writeChecksums(): Promise<void>;
  /** Writes `seal.gpg` over the checksums. @throws IDKIT_BUG before `writeChecksums` */
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

/** What the retention rule needs to know about a set. */
export interface PrunableSet extends ListedSet {
  /** True if the set includes the database, so that it can be restored. */
  whole: boolean;
  /** `bad`: a current verdict says so, or the checksums do not list exactly the files of the set. */
  state: 'verified' | 'unverified' | 'bad';
}

export interface PruneStep {
  name: string;
  action: 'keep' | 'delete';
  reason: string;
}

/** The result of keeping a version of a component. */
export interface VersionResult {
  /** The file of the new version. Absent if the newest version has the same content and is less than a week old. */
  added?: string;
  /** The files of the versions that were removed. */
  removed: readonly string[];
}
