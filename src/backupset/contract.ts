import type { ErrorCode, Secret } from '../core/index.ts';

/** The file names of a set that are fixed (contract §4, "A backup set"). */
export const SET_FILES = {
  dump: 'keycloak-db.sql.gz',
  config: 'config.tar.gz',
  environment: 'env.gpg',
  manifest: 'manifest.json',
  checksums: 'checksums.sha256',
  /** A symmetric OpenPGP message over the checksums, which do not list it. */
  seal: 'seal.gpg',
} as const;

/** The parts that a set can hold; `--only` makes some of them. */
export type SetPart = 'database' | 'realms' | 'config' | 'env';

/** What every long-running call takes. `onProgress` gets bytes done so far and, where known, in all. */
export interface WorkOptions {
  signal?: AbortSignal;
  onProgress?: (done: number, total?: number) => void;
}

/** A real directory with a timestamp for a name in a backup root. */
export interface ListedSet {
  /** `YYYYMMDD_HHMMSS`. */
  name: string;
  /** Absolute path. */
  dir: string;
  /** Milliseconds since the Unix epoch, from the name. */
  startedAt: number;
  /** Dated more than an hour ahead of `now`. */
  future: boolean;
}

/** What a backup root holds that idkit knows; everything else in it is foreign and not listed. */
export interface RootListing {
  /** Oldest first. */
  sets: readonly ListedSet[];
  /** Names of `.partial-…` directories: work that ended before it was published, or runs now. */
  partials: readonly string[];
  /** Names of `.trash-…` directories: deletions that did not end. */
  trash: readonly string[];
}

/** The name for a set that begins now. */
export interface PlannedName {
  name: string;
  /** Milliseconds since the Unix epoch that the name tells. */
  startedAt: number;
  /** Wait this long before the set begins: the second is taken. */
  waitMilliseconds: number;
  /** The newest set is ahead of the clock, and the name follows it: a finding (contract §3, backup). */
  clockBehind: boolean;
}

/** One line of `checksums.sha256`. */
export interface ChecksumEntry {
  name: string;
  /** 64 lower-case hex digits. */
  sha256: string;
}

/** A file of a set as it was written or read. */
export interface FileDigest {
  bytes: number;
  /** 64 lower-case hex digits. */
  sha256: string;
}

/** A realm in the manifest. */
export interface ManifestRealm {
  realm: string;
  /** Users without service accounts, in the dump's own snapshot; absent where the dump does not hold the realm. */
  users?: number;
  /** Its realm file in the set; absent where the realm is not in the configured list. */
  file?: string;
}

/** `manifest.json` (contract §4). */
export interface Manifest {
  /** 2 since sets are sealed. */
  formatVersion: 1 | 2;
  idkitVersion: string;
  /** ISO 8601, UTC: the time in the set's name. */
  startedAt: string;
  parts: readonly SetPart[];
  /** There is a `seal.gpg`: the backup had a passphrase. Absent in format 1. */
  sealed?: boolean;
  service: { kind: 'idkit' | 'keycloak'; version: string };
  /** Absent in a set without the database. */
  database?: { kind: 'sqlite' | 'postgres'; version: string; schemaVersion: number; bytes: number };
  realms: readonly ManifestRealm[];
  /** Where the realm files came from; absent in a set without them. */
  realmSource?: 'api' | 'snapshot';
  /** Bytes of every file but this one, the checksums and the seal. */
  files: Readonly<Record<string, number>>;
  /** Wall time of each step, in order. */
  steps: readonly { id: string; milliseconds: number }[];
}

/** What a dump turned out to hold once it was read to its end marker. */
export interface DumpReport {
  kind: 'sqlite' | 'postgres';
  /** Bytes of SQL. */
  bytes: number;
  /** Embedded: `PRAGMA user_version`; Postgres: idkit's own, or Keycloak's version as a number (26.7.3 is 260703). */
  schemaVersion?: number;
  /** Realms with their users without service accounts; undefined where the dump's tables are not known. */
  realms?: readonly { realm: string; users: number }[];
  /** The short rows of idkit's table `meta`, value by name; they tell which master key belongs to it. */
  meta?: ReadonlyMap<string, string>;
  postgres?: PostgresDumpFacts;
}

/** What a Postgres dump tells of where it came from and what it needs where it is loaded. */
export interface PostgresDumpFacts {
  /** Its comments before the first statement. */
  head: string;
  /** `15.18`. */
  serverVersion?: string;
  /** Of the `pg_dump` that wrote it. */
  dumpVersion?: string;
  /** `26.7.3`: the version that last migrated the schema. */
  keycloakVersion?: string;
  /** Service, schema and key are not known before it is loaded: their rows are INSERTs, as `pg_dump --inserts` writes. */
  unread?: true;
  /** Roles that own or may use something in it. */
  roles: readonly string[];
}

/** What the archive of the configuration left out, and why (contract §3, backup). */
export interface LeftOut {
  /** Relative to the configuration directory. */
  path: string;
  why:
    | 'link leaves'
    | 'socket'
    | 'fifo'
    | 'device'
    | 'environment name'
    | 'name is no UTF-8'
    | 'vanished while read'
    | 'unreadable'
    /** It is in the archive, but may be torn: it was being written. */
    | 'changed while read';
}

/** Where the parts of `config.tar.gz` lie; absent or missing ones are not archived. */
export interface ArchiveSource {
  configDir?: string;
  idkitYaml?: string;
  composeYaml?: string;
  /** Left out silently, under whatever name or link it lies. */
  environmentFile?: string;
}

export interface ArchiveReport {
  entries: number;
  /** Bytes of the archive before compression. */
  bytes: number;
  leftOut: readonly LeftOut[];
}

/** One entry of a configuration archive that passed every rule of contract §3, verify. */
export interface ArchiveEntry {
  /** Without a trailing slash: `config`, `config/…`, `idkit.yaml` or `compose.yaml`. */
  path: string;
  type: 'file' | 'directory' | 'link';
  /** Permission bits, at most 0777. */
  mode: number;
  /** Seconds since the Unix epoch. */
  mtime: number;
  /** Bytes of a file, else 0. */
  size: number;
  /** A link's target. */
  target?: string;
}

/** What opening an OpenPGP message came to (contract §3, verify). */
export type MessageOpened =
  /** `filename` is what the message says inside; often empty. */
  | { outcome: 'opened'; bytes: Uint8Array; filename: string }
  /** It does not open with this passphrase (12): a wrong one cannot be told from tampering. */
  | { outcome: 'wrong passphrase' }
  /** No OpenPGP message, cut off, or without integrity protection (13). */
  | { outcome: 'damaged'; why: string }
  /** A cipher that idkit cannot open (14); `command` is the gpg command that does. */
  | { outcome: 'unsupported cipher'; cipher: string; command: string };

/** One fault of a set. */
export interface SetProblem {
  /** The file that it is about; the set's directory name where it is about none. */
  file: string;
  code: Extract<ErrorCode, 'IDKIT_DAMAGED' | 'IDKIT_CREDENTIALS' | 'IDKIT_VERSION'>;
  /** What is wrong with the file, which it does not name again. */
  message: string;
  hints: readonly string[];
}

/**
 * `holds`: who made the checksums knew the passphrase, and they are of this set. `not checked`: there is a seal, and
 * it was not opened. `unsealed`: there is none. `broken`: there is one, and it does not hold; nothing else of the set
 * is believed then.
 */
export type SealState = 'holds' | 'not checked' | 'unsealed' | 'broken';

/** The checksums of a set as they were read once, and what its seal says of them. */
export interface SealedList {
  seal: SealState;
  /** Why `checksums.sha256` or the seal does not hold. */
  problems: readonly SetProblem[];
  notes: readonly string[];
  /** Absent if the checksums cannot be read. */
  list?: {
    entries: readonly ChecksumEntry[];
    /** Bytes of the list and of the seal. */
    bytes: number;
    /** Of `checksums.sha256`. */
    sha256: string;
  };
}

/** The judgement over one set, from its bytes alone. */
export interface Verdict {
  /** `damaged` 13, `passphrase` 12, `unreadable` 14: damage wins over a passphrase, that over a cipher. */
  verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable';
  /** The code to end with; absent when good. */
  code?: SetProblem['code'];
  problems: readonly SetProblem[];
  notes: readonly string[];
  seal: SealState;
  /** Empty set of parts: nothing of a set was found. */
  parts: readonly SetPart[];
  /** Where the set holds a dump that could be read. */
  dump?: DumpReport;
  manifest?: Manifest;
  /** Realms with users as the dump, else the manifest tells; the realm file where there is one. */
  realms: readonly ManifestRealm[];
  /** Files that are listed in the checksums, the checksums, and the seal. */
  files: number;
  bytes: number;
  /** SHA-256 of `checksums.sha256`; ties a kept verdict to these bytes. Absent where it cannot be read. */
  checksumsSha256?: string;
  /** What the checksums list, to hold later readings against; empty if they cannot be read. */
  entries: readonly ChecksumEntry[];
}

export interface VerifySetOptions extends WorkOptions {
  /** Absent: env.gpg is looked at but not opened, and a note says so. */
  passphrase?: Secret;
  /** Judges what env.gpg holds, once it is opened: a `fault` is damage, a `note` is not. */
  judgeEnvironment?: (plain: Uint8Array) => { fault?: string; note?: string };
  /** What `checkSeal` found before; the checksums are not read again then. */
  sealed?: SealedList;
}

/** A verdict as `ROOT/.state/NAME.json` keeps it. */
export interface KeptVerdict {
  /** ISO 8601, UTC. */
  at: string;
  verdict: Verdict['verdict'];
  checksumsSha256: string;
  problems: readonly string[];
  /** Absent if an older idkit kept it. */
  seal?: SealState;
}

/** A read-only view of one set's directory. Only regular files that are no links are opened. */
export interface SetHandle {
  readonly name: string;
  /** Absolute, links in the path to it resolved. */
  readonly dir: string;
  /** Milliseconds, where the name tells a time. */
  readonly startedAt?: number;
  /** Names of everything in the directory, sorted bytewise. */
  readonly names: readonly string[];
  /** A small file as a whole. @throws IDKIT_DAMAGED where it is missing, irregular or longer than `maxBytes` */
  read(name: string, maxBytes?: number): Promise<Buffer>;
  /** A file's bytes in order. @throws IDKIT_DAMAGED where it is missing or irregular */
  stream(name: string, options?: WorkOptions): AsyncIterable<Buffer>;
  /** Bytes of a regular file. @throws IDKIT_DAMAGED where it is missing or irregular */
  size(name: string): Promise<number>;
}

/** A file of a set being written; `write` hashes what it writes. */
export interface SetFileWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Syncs the file to disk. */
  close(): Promise<FileDigest>;
}

/** A set in the making, in `ROOT/.partial-NAME-PID`, directory 0700, files 0600. */
export interface SetWriter {
  readonly name: string;
  /** The working directory. */
  readonly dir: string;
  /** What was written and closed so far. */
  readonly files: ReadonlyMap<string, FileDigest>;
  /** Begins a file. @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE */
  createFile(name: string): Promise<SetFileWriter>;
  /** A whole file at once. */
  putFile(name: string, content: Uint8Array | string): Promise<FileDigest>;
  /** Writes `checksums.sha256` over every file closed so far. Nothing may be written after it. */
  writeChecksums(): Promise<void>;
  /** Writes `seal.gpg` over the checksums. @throws IDKIT_BUG before `writeChecksums` */
  writeSeal(passphrase: Secret): Promise<void>;
  /** Reads everything back from the disk and judges it as `verifySet` does. */
  readBack(options?: VerifySetOptions): Promise<Verdict>;
  /**
   * Syncs the directory, renames it to its final name and syncs the root. Returns the set's absolute path.
   * @throws IDKIT_FAILED where the name is taken or the checksums are not written
   */
  publish(): Promise<string>;
  /** Removes the working directory; harmless after `publish`. */
  abandon(): Promise<void>;
}

/** What the retention rule wants to know of a set. */
export interface PrunableSet extends ListedSet {
  /** It holds the database, so it can be restored. */
  whole: boolean;
  /** `bad`: a verdict that still fits its checksums says so, or its files are not what its checksums list. */
  state: 'verified' | 'unverified' | 'bad';
}

export interface PruneStep {
  name: string;
  action: 'keep' | 'delete';
  reason: string;
}

/** What became of a component's version. */
export interface VersionResult {
  /** The new version's file; absent where the newest one is the same and younger than a week. */
  added?: string;
  /** Files that fell out of the newest `keep`. */
  removed: readonly string[];
}
