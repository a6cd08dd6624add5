import type { ErrorCode, Secret } from '../core/index.ts';
import type { SetKeys } from './openpgp/set-keys.ts';

/** The fixed file names of a set. */
export const SET_FILES = {
  dump: 'keycloak-db.sql.gz',
  config: 'config.tar.gz',
  environment: 'env.gpg',
  manifest: 'manifest.json',
  checksums: 'checksums.sha256',
  /**
   * An OpenPGP message that holds the hash of the checksums, encrypted with the passphrase. The checksums do not list
   * it.
   */
  seal: 'seal.gpg',
} as const;

/** The parts of a set. `--only` selects some of them. */
export type SetPart = 'database' | 'realms' | 'config' | 'env';

/**
 * Options of every call that can take a long time. `onProgress` receives the number of bytes done and, if it is known,
 * their total.
 */
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
  /** Unix time in milliseconds, from the name. */
  startedAt: number;
  /** True if the set is dated more than an hour ahead of `now`. */
  future: boolean;
}

/** The directories in a backup root that belong to idkit. Other entries are not listed. */
export interface RootListing {
  /** Oldest first. */
  sets: readonly ListedSet[];
  /** Names of `.partial-…` directories: unfinished backups, and backups that are still running. */
  partials: readonly string[];
  /** Names of `.trash-…` directories: unfinished deletions. */
  trash: readonly string[];
}

/** The name for a new set. */
export interface PlannedName {
  name: string;
  /** The time in the name, as Unix time in milliseconds. */
  startedAt: number;
  /** Time in milliseconds to wait before the backup begins. 0 unless a set is named after the current second. */
  waitMilliseconds: number;
  /** True if the newest set is ahead of the clock, so the name follows that set. A backup reports this as a finding. */
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

export interface ManifestRealm {
  realm: string;
  /**
   * Number of users in the dump's snapshot, without service accounts. Absent if the dump does not contain the realm.
   */
  users?: number;
  /** Name of the realm file in the set. Absent if the realm is not one of the configured realms. */
  file?: string;
}

/** How the files of a set are encrypted. */
export interface ManifestEncryption {
  to: 'passphrase' | 'keys';
  /** The fingerprints of the public keys, in upper-case hex. Empty for a passphrase. */
  fingerprints: readonly string[];
}

/** `manifest.json` */
export interface Manifest {
  /**
   * Format 2 added the member `sealed`. Format 3 is the readable manifest of an encrypted set, which names no realms.
   * The encrypted manifest of such a set has format 2.
   */
  formatVersion: 1 | 2 | 3;
  idkitVersion: string;
  /** The time in the set's name, in ISO 8601 and UTC. */
  startedAt: string;
  parts: readonly SetPart[];
  /** True if the set has a `seal.gpg`, which a backup with a passphrase writes. Absent in format 1. */
  sealed?: boolean;
  /** Present in format 3 only. */
  encryption?: ManifestEncryption;
  service: { kind: 'idkit' | 'keycloak'; version: string };
  /** Describes the dumped database. Absent if the set does not contain it. */
  database?: { kind: 'sqlite' | 'postgres'; version: string; schemaVersion: number; bytes: number };
  realms: readonly ManifestRealm[];
  /** The source of the realm files. Absent if the set has no realm files. */
  realmSource?: 'api' | 'snapshot';
  /** Size of each file in bytes by its name, except for the manifest, the checksums and the seal. */
  files: Readonly<Record<string, number>>;
  /** The duration of each step, in order. */
  steps: readonly { id: string; milliseconds: number }[];
}

/** The contents of a dump. They are known only after the dump has been read to its end line. */
export interface DumpReport {
  kind: 'sqlite' | 'postgres';
  /** The size of the SQL in bytes. */
  bytes: number;
  /** SQLite: `PRAGMA user_version`. Postgres: idkit's schema version, or Keycloak's version as a number (26.7.3 is 260703). */
  schemaVersion?: number;
  /**
   * The number of users by realm, without service accounts. Undefined if idkit does not know the tables of the dump.
   */
  realms?: readonly { realm: string; users: number }[];
  /** The number of key providers by realm. Undefined if idkit does not know the tables of the dump. */
  keys?: ReadonlyMap<string, number>;
  /** Random stored credentials, which a drill compares with the restored ones. */
  credentials?: readonly SampledCredential[];
  /** Short values of idkit's table `meta` by name. They show which master key the dump needs. */
  meta?: ReadonlyMap<string, string>;
  postgres?: PostgresDumpFacts;
}

/** A stored credential of a user. */
export interface SampledCredential {
  id: string;
  /** The SHA-256 of the user's id and the hashed secret, in hex. The secret itself is not kept. */
  sha256: string;
}

/** The origin of a Postgres dump, and what loading it requires. */
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
   * True if the rows are INSERT statements, as `pg_dump --inserts` writes them. idkit does not read these, so service,
   * schema and master key are unknown until the dump is loaded.
   */
  unread?: true;
  /** The roles that own an object in the dump or have privileges on one. */
  roles: readonly string[];
}

/** A file that was left out of the configuration archive, and why. */
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

/** The paths to archive in `config.tar.gz`. A path that is absent or does not exist is skipped. */
export interface ArchiveSource {
  configDir?: string;
  idkitYaml?: string;
  composeYaml?: string;
  /** The environment file. It is left out without a report, even under another name or behind a link. */
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
  /** The path in the archive, without a trailing slash: `config`, `config/…`, `idkit.yaml` or `compose.yaml`. */
  path: string;
  type: 'file' | 'directory' | 'link';
  /** Permission bits, at most 0777. */
  mode: number;
  /** Unix time in seconds. */
  mtime: number;
  /** The size of a file in bytes; 0 for directories and links. */
  size: number;
  /** The target of a link. */
  target?: string;
}

/** The result of decrypting an OpenPGP message. */
export type MessageOpened =
  /** `filename` is the name inside the message, often empty. */
  | { outcome: 'opened'; bytes: Uint8Array; filename: string }
  /** This passphrase does not decrypt the message (exit code 12). A modified message has the same result. */
  | { outcome: 'wrong passphrase' }
  /** The file is not an OpenPGP message, is truncated, or has no integrity protection (exit code 13). */
  | { outcome: 'damaged'; why: string }
  /** idkit does not support the cipher (exit code 14). `command` is the gpg command that decrypts the message. */
  | { outcome: 'unsupported cipher'; cipher: string; command: string };

export interface SetProblem {
  /** The faulty file, or the set's name if the fault is not in a file. */
  file: string;
  code: Extract<ErrorCode, 'IDKIT_DAMAGED' | 'IDKIT_CREDENTIALS' | 'IDKIT_VERSION'>;
  /** Describes the fault without repeating the file's name. */
  message: string;
  hints: readonly string[];
}

/**
 * `holds`: the checksums were written for this set by someone who knew the passphrase. `not checked`: the set has a
 * seal, which was not decrypted. `unsealed`: the set has no seal. `broken`: the seal is invalid, so idkit trusts
 * nothing in the set.
 */
export type SealState = 'holds' | 'not checked' | 'unsealed' | 'broken';

/** The checksums of a set, which are read only once, and the state of its seal. */
export interface SealedList {
  seal: SealState;
  /** The faults of `checksums.sha256` and the seal. */
  problems: readonly SetProblem[];
  notes: readonly string[];
  /** The checksums. Absent if they cannot be read. */
  list?: {
    entries: readonly ChecksumEntry[];
    /** Size in bytes of the list and the seal together. */
    bytes: number;
    /** The hash of `checksums.sha256`. */
    sha256: string;
  };
}

/** The result of verifying one set, which depends only on its files. */
export interface Verdict {
  /**
   * The exit codes are 13 for `damaged`, 12 for `passphrase` and 14 for `unreadable`. Damage takes precedence over a
   * wrong passphrase, which takes precedence over an unsupported cipher.
   */
  verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable';
  /** The error code of the verdict. Absent for a good set. */
  code?: SetProblem['code'];
  problems: readonly SetProblem[];
  notes: readonly string[];
  seal: SealState;
  /** The parts that the set contains. Empty if no part was found. */
  parts: readonly SetPart[];
  /** Present if the set has a readable dump. */
  dump?: DumpReport;
  /** The encrypted manifest, if the set is encrypted and could be decrypted. */
  manifest?: Manifest;
  /** Present for an encrypted set. */
  encryption?: SetEncryptionState;
  /**
   * The realms with their realm files and user counts. The counts come from the dump, or from the manifest if the dump
   * has none.
   */
  realms: readonly ManifestRealm[];
  /** The number of listed files, plus the checksums and the seal. */
  files: number;
  bytes: number;
  /**
   * The hash of `checksums.sha256`, which ties a stored verdict to exactly these files. Absent if the list cannot be
   * read.
   */
  checksumsSha256?: string;
  /** The checksums with which later reads are compared. Empty if the list cannot be read. */
  entries: readonly ChecksumEntry[];
}

/** What is known about the encryption of a set. */
export interface SetEncryptionState {
  /** Absent if the readable manifest is damaged. */
  to?: ManifestEncryption['to'];
  fingerprints: readonly string[];
  /** False if the files were compared with their checksums, but could not be decrypted without the key. */
  isRead: boolean;
}

export interface VerifySetOptions extends WorkOptions {
  /** Without a passphrase, env.gpg is inspected but not decrypted, and a note says so. */
  passphrase?: Secret;
  /** Decrypts an encrypted set. Default: keys from `passphrase` alone. */
  keys?: SetKeys;
  /** Checks the decrypted content of env.gpg. A `fault` means that the set is damaged, a `note` does not. */
  judgeEnvironment?: (plain: Uint8Array) => { fault?: string; note?: string };
  /** The result of an earlier `checkSeal`, so that the checksums are not read again. */
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
  /** `backup` if it is the verdict with which a backup read its own set back. Absent if an older idkit stored it. */
  by?: 'backup' | 'verify';
  /** False if the set is encrypted and nothing has decrypted it since it was written. */
  isRead?: boolean;
  /** The size of the dump's SQL in bytes, from which the space that a restore needs follows. */
  sqlBytes?: number;
  /** What the dump contains, with which the next backup is compared. Absent if an older idkit stored the verdict. */
  contents?: readonly RealmContents[];
  /** `contents` of an encrypted set as JSON, encrypted with the passphrase, in base64. */
  encryptedContents?: string;
  /** What the set lost compared with the newest good set. `accepted` if the operator accepted the loss. */
  shrunk?: { losses: readonly string[]; accepted: boolean };
}

/** The users and keys of one realm in a dump. */
export interface RealmContents {
  realm: string;
  users: number;
  /** Number of key providers. Absent if idkit does not know the tables of the dump. */
  keys?: number;
}

/** A read-only view of a set's directory. Only regular files are opened, and links are not followed. */
export interface SetHandle {
  readonly name: string;
  /** The absolute path without links. */
  readonly dir: string;
  /** Unix time in milliseconds, from the name. Absent if the name is not a time. */
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

/** The properties of a set on which the retention rule depends. */
export interface PrunableSet extends ListedSet {
  /** True if the set includes the database, so that it can be restored. */
  whole: boolean;
  /** `bad`: its stored verdict is bad and still current, or the checksums do not list exactly its files. */
  state: 'verified' | 'unverified' | 'bad';
  /** True if the backup found that the set lost data, and the operator did not accept the loss. */
  shrunk?: boolean;
}

export interface PruneStep {
  name: string;
  action: 'keep' | 'delete';
  reason: string;
}

/** The result of adding a version of the configuration or the environment. */
export interface VersionResult {
  /** The file of the new version. Absent if the newest version has the same content and is less than a week old. */
  added?: string;
  /** The files of the deleted versions. */
  removed: readonly string[];
}
