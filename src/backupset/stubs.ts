import { IdkitError, type Secret } from '../core/index.ts';
import type * as C from './contract.ts';

function notYet(): never {
  throw new IdkitError('IDKIT_NOT_YET', 'backup set');
}

// names.ts
/** `YYYYMMDD_HHMMSS` in UTC. */
export const formatSetName = (_ms: number): string => notYet();
/** Milliseconds that a set's name tells; undefined where it is no such name. */
export const parseSetName = (_name: string): number | undefined => notYet();
/** What a backup root holds; empty where the root does not exist. `now` in milliseconds. */
export const listSets = async (_root: string, _now: number): Promise<C.RootListing> => notYet();
/** The next name: unique, increasing. `now` in milliseconds. */
export const planSetName = (_sets: readonly C.ListedSet[], _now: number): C.PlannedName => notYet();
/** `realm-<realm>.json`, percent-encoded. */
export const realmFileName = (_realm: string): string => notYet();
/** The realm that a file name tells; undefined where it is no realm file's name. */
export const parseRealmFileName = (_file: string): string | undefined => notYet();

// checksums.ts
export const renderChecksums = (_entries: readonly C.ChecksumEntry[]): string => notYet();
/** @throws IDKIT_DAMAGED */
export const parseChecksums = (_text: Uint8Array): readonly C.ChecksumEntry[] => notYet();

// manifest.ts
export const renderManifest = (_manifest: C.Manifest): string => notYet();
/** @throws IDKIT_DAMAGED; IDKIT_VERSION for a newer format */
export const parseManifest = (_text: Uint8Array): C.Manifest => notYet();

// gzip
/** A single gzip member over two worker threads. */
export const createGzipWriter = (
  _sink: (chunk: Uint8Array) => Promise<void>,
  _options?: { level?: number; signal?: AbortSignal },
): { write(chunk: Uint8Array): Promise<void>; end(): Promise<void>; abort(): Promise<void> } => notYet();
/** @throws IDKIT_DAMAGED */
export const gunzip = (_source: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> => notYet();

// dump
/** Passes SQL on while it checks it; throws at the first fault, or at the end where the marker is missing. */
export const createDumpInspector = (): { write(chunk: Uint8Array): void; end(): C.DumpReport } => notYet();
/** The SQL of a set's dump, inspected on the way; ends with an error where it is not whole. */
export const readDump = (_set: C.SetHandle, _options?: C.WorkOptions): AsyncIterable<Buffer> => notYet();

// archive
/** Writes `config.tar.gz` to the sink. */
export const writeConfigArchive = async (
  _source: C.ArchiveSource,
  _sink: (chunk: Uint8Array) => Promise<void>,
  _options?: C.WorkOptions,
): Promise<C.ArchiveReport> => notYet();
/** Walks a set's archive under every rule. @throws IDKIT_DAMAGED */
export const listConfigArchive = async (
  _set: C.SetHandle,
  _options?: C.WorkOptions,
): Promise<readonly C.ArchiveEntry[]> => notYet();
/** Walks the whole archive first, then unpacks it into `dir`, which must not exist yet. @throws IDKIT_DAMAGED */
export const extractConfigArchive = async (
  _set: C.SetHandle,
  _dir: string,
  _options?: C.WorkOptions,
): Promise<readonly C.ArchiveEntry[]> => notYet();

// environment
export const encryptEnvironment = async (_bytes: Uint8Array, _passphrase: Secret): Promise<Uint8Array> =>
  notYet();
export const decryptEnvironment = async (
  _message: Uint8Array,
  _passphrase: Secret,
): Promise<C.EnvironmentOpened> => notYet();
/** A set's environment in the clear. @throws IDKIT_CREDENTIALS, IDKIT_DAMAGED, IDKIT_VERSION */
export const openEnvironment = async (_set: C.SetHandle, _passphrase: Secret): Promise<Uint8Array> =>
  notYet();

// set
/** @throws IDKIT_NOT_FOUND; IDKIT_DAMAGED for a `.partial-…` directory */
export const openSet = async (_dir: string): Promise<C.SetHandle> => notYet();
export const verifySet = async (_set: C.SetHandle, _options?: C.VerifySetOptions): Promise<C.Verdict> =>
  notYet();
/** Makes the root where it is missing. @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE */
export const createSetWriter = async (_root: string, _name: string): Promise<C.SetWriter> => notYet();
/** Removes dead `.partial-…` and `.trash-…`; the caller holds the root's lock alone. Returns what went. */
export const reapLeftovers = async (_root: string): Promise<readonly string[]> => notYet();

// versions and verdicts
export const addConfigVersion = async (
  _root: string,
  _stamp: string,
  _file: string,
  _options: { keep: number },
): Promise<C.VersionResult> => notYet();
export const addEnvironmentVersion = async (
  _root: string,
  _stamp: string,
  _file: string,
  _options: { keep: number; passphrase: Secret },
): Promise<C.VersionResult> => notYet();
/** Undefined where none is kept, or where the set's checksums changed since. */
export const findVerdict = async (_root: string, _name: string): Promise<C.KeptVerdict | undefined> =>
  notYet();
/** @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE */
export const putVerdict = async (_root: string, _name: string, _verdict: C.KeptVerdict): Promise<void> =>
  notYet();

// retention
/** What the retention rule needs to know of each set, at the price of a directory listing each. */
export const judgeSets = async (
  _root: string,
  _sets: readonly C.ListedSet[],
): Promise<readonly C.PrunableSet[]> => notYet();
/** `now` in milliseconds. */
export const planPrune = (
  _sets: readonly C.PrunableSet[],
  _options: { now: number; keepDays: number },
): readonly C.PruneStep[] => notYet();
/** Renames to `.trash-NAME`, then removes; takes its kept verdict with it. */
export const deleteSet = async (_root: string, _name: string): Promise<void> => notYet();
