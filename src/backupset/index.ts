// Backup set: the format of a backup directory (contract §4).
// Owns: names, manifest, checksums, archive, OpenPGP, SQL-dump reader; read-only unless a writer is asked for.
// Must not know: databases, containers.
// Start at contract.ts, then verify-set.ts and set-writer.ts.
export { extractConfigArchive, listConfigArchive, readConfigFile } from './archive-extract.ts';
export { writeConfigArchive } from './archive-writer.ts';
export { parseChecksums, renderChecksums } from './checksums.ts';
export {
  type ArchiveEntry,
  type ArchiveReport,
  type ArchiveSource,
  type ChecksumEntry,
  type DumpReport,
  type FileDigest,
  type KeptVerdict,
  type LeftOut,
  type ListedSet,
  type Manifest,
  type ManifestRealm,
  type MessageOpened,
  type PlannedName,
  type PostgresDumpFacts,
  type PrunableSet,
  type PruneStep,
  type RootListing,
  SET_FILES,
  type SealedList,
  type SealState,
  type SetFileWriter,
  type SetHandle,
  type SetPart,
  type SetProblem,
  type SetWriter,
  type Verdict,
  type VerifySetOptions,
  type VersionResult,
  type WorkOptions,
} from './contract.ts';
export { keycloakSchemaNumber, renderKeycloakVersion } from './dump-facts.ts';
export { type DumpHead, findDumpHead } from './dump-head.ts';
export { createDumpInspector, type DumpInspector, readDump } from './dump-inspector.ts';
export { FOREIGN_STATEMENT } from './dump-psql.ts';
export { decryptEnvironment, encryptEnvironment } from './environment.ts';
export { gunzip } from './gunzip.ts';
export { createGzipWriter, type GzipWriter } from './gzip-writer.ts';
export { isFuture, listSets, planSetName } from './list-sets.ts';
export { parseManifest, renderManifest } from './manifest.ts';
export { formatSetName, parseRealmFileName, parseSetName, realmFileName } from './names.ts';
export { pinSet } from './pinned-set.ts';
export { deleteSet, judgeSets, planPrune, reapLeftovers } from './retention.ts';
export { checkSeal, makeSeal } from './seal.ts';
export { openSet } from './set-handle.ts';
export { createSetWriter } from './set-writer.ts';
export { definitionsOf, isPlainDefinition, type SqliteDefinition } from './sqlite/index.ts';
export { findVerdict, putVerdict, removeVerdict } from './verdicts.ts';
export { verifySet } from './verify-set.ts';
export { addConfigVersion, addEnvironmentVersion } from './versions.ts';
