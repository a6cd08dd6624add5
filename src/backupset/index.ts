// Backup set: the format of a backup directory, and all work that needs only its files.
// Owns: names, manifest and checksums (set/), the configuration archive (archive/), SQL dumps (dump/) and the records
// in them (contents/), compression (gzip/), encryption and the seal (openpgp/), verification (verify/), what a backup root keeps (retention/), and its
// figures (figures/).
// Decides whether a set is good. Reads through read-only handles; only `createSetWriter` writes a set.
// Must not know: databases, containers, when a backup runs.
// Start at contract.ts, then verify/verify-set.ts and set/writer.ts.
export { extractConfigArchive, listConfigArchive, readConfigFile } from './archive/extract.ts';
export { type PackedFile, packTar } from './archive/pack.ts';
export { writeConfigArchive } from './archive/writer.ts';
export { type Comparison, compareDumps, type Difference } from './contents/compare.ts';
export { type DumpSurvey, type KeySurvey, type RealmSurvey, surveyDump } from './contents/survey.ts';
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
  type ManifestEncryption,
  type ManifestRealm,
  type MessageOpened,
  type PlannedName,
  type PostgresDumpFacts,
  type PrunableSet,
  type PruneStep,
  type RealmContents,
  type RootListing,
  type SampledCredential,
  SET_FILES,
  type SealedList,
  type SealState,
  type SetEncryptionState,
  type SetHandle,
  type SetPart,
  type SetProblem,
  type Verdict,
  type VerifySetOptions,
  type VersionResult,
  type WorkOptions,
} from './contract.ts';
export { digestCredential } from './dump/credential-sample.ts';
export {
  createDumpInspector,
  type DumpHead,
  type DumpInspector,
  findDumpHead,
  readDump,
} from './dump/inspector.ts';
export { keycloakSchemaNumber, renderKeycloakVersion } from './dump/postgres/facts.ts';
export { FOREIGN_STATEMENT } from './dump/postgres/psql.ts';
export { type DumpRow, type RowReader, type RowSink, readDumpRows } from './dump/rows.ts';
export {
  definitionsOf,
  findDefinition,
  isPlainDefinition,
  type SqliteDefinition,
} from './dump/sqlite/known.ts';
export { isInsideTrigger } from './dump/statement.ts';
export { ARCHIVE_METRICS, type ArchiveMetric, type ArchivePosition } from './figures/archive-metrics.ts';
export { findJobRecord, type JobRecord, type JobRun, putJobRecord } from './figures/job-records.ts';
export {
  findLastRun,
  KEPT_BACKUPS,
  type KeptRun,
  type LastRun,
  putLastRun,
} from './figures/last-runs.ts';
export {
  openRootReader,
  type RootFigures,
  type RootReader,
  UNREADABLE_ROOT,
} from './figures/root-figures.ts';
export { listRootMetrics, type RootLimits, type RootMetric } from './figures/root-metrics.ts';
export { gunzip } from './gzip/gunzip.ts';
export { createGzipWriter, type GzipWriter } from './gzip/writer.ts';
export { decryptEnvironment, encryptEnvironment } from './openpgp/environment.ts';
export {
  type KeyFile,
  type PrivateKeys,
  type PublicKeys,
  readPrivateKeyFile,
  readPublicKeys,
} from './openpgp/public-keys.ts';
export { checkSeal, makeSeal } from './openpgp/seal.ts';
export { encryptToKeys, encryptToPassphrase, type SetEncryption } from './openpgp/set-encryption.ts';
export { SetKeys, type SetSecrets } from './openpgp/set-keys.ts';
export { type KeepCounts, type KeptSet, planKeep } from './retention/keep-rule.ts';
export { deleteSet, judgeSets, planPrune, reapLeftovers } from './retention/prune.ts';
export { addConfigVersion, addEnvironmentVersion } from './retention/versions.ts';
export {
  type DrillReport,
  type LastResult,
  listNewestDrills,
  type NewestDrill,
  overviewRoot,
  type RootOverview,
  type SetOverview,
} from './root-overview.ts';
export { parseChecksums, renderChecksums } from './set/checksums.ts';
export type { SetFileWriter, SetWriter } from './set/contract.ts';
export { encryptedName, isEncryptedSet, numberedRealmFile } from './set/encrypted-names.ts';
export { openSet, pinSet } from './set/handle.ts';
export { isFuture, listSets, planSetName } from './set/list-sets.ts';
export { parseManifest, renderManifest } from './set/manifest.ts';
export { formatSetName, parseRealmFileName, parseSetName, realmFileName } from './set/names.ts';
export { readableSet } from './set/readable-set.ts';
export { createSetWriter } from './set/writer.ts';
export { decryptContents, encryptContents } from './verify/kept-contents.ts';
export { findVerdict, putVerdict, removeVerdict } from './verify/kept-verdicts.ts';
export { verifySet } from './verify/verify-set.ts';
