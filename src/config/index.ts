// Config: settings from flags, environment, .env and idkit.yaml. Decides which source of a setting takes precedence.
// Owns: the table of settings (settings/), idkit.yaml (yaml/), .env (environment/), Postgres addresses (postgres/), locks
// (lock/), the jobs of the schedule and their times (schedule/), profiles of services (profile/), the files of a new container platform (compose/), paths, the passphrase,
// the format of the master key.
// Must not know: what the settings are used for.
// Start at settings/table.ts, then settings/load.ts.

export { parseDuration } from './duration.ts';
export {
  checkEnvKeys,
  parseEnvContent,
  parseEnvFile,
  readEnvFile,
  renderEnvValue,
} from './environment/file.ts';
export { isGeneratedValue, writeEnvironmentValue } from './environment/write.ts';
export { isForeignArchive } from './foreign-archive.ts';
export { type InitResult, initPlatform } from './init.ts';
export { listenUrl } from './listen-url.ts';
export { acquireLock, type Lock, type LockOptions, readLockHolder } from './lock/lock.ts';
export { lockedFile } from './lock/locked-file.ts';
export { findHolders, type LockHolder } from './lock/record.ts';
export { checkMasterKey, generateMasterKey } from './master-key.ts';
export { ownDirectory, ownVersion } from './own-version.ts';
export {
  findKeyPassphrase,
  findPassphrase,
  type PassphraseOptions,
  readPassphrase,
  withoutPassphrase,
} from './passphrase.ts';
export { platformPaths, resolvePlatformDirectory } from './paths.ts';
export { findPostgresPassword } from './postgres/password.ts';
export {
  type AuthMethod,
  type PostgresAddress,
  type PostgresHost,
  parsePostgresUrl,
  showPostgresAddress,
  showPostgresHost,
} from './postgres/url.ts';
export {
  checkProfileName,
  findProfile,
  type Profile,
  type Profiles,
  profileNameFor,
  readProfiles,
  removeProfile,
  saveProfile,
  selectProfile,
  sessionFile,
} from './profile/profiles.ts';
export { type CronTimes, nextCronTime, parseCron, previousCronTime } from './schedule/cron.ts';
export { JOBS, type Job, type JobId, type PlannedJob, plannedJobs } from './schedule/jobs.ts';
export { flagsOfCommand, type SettingFlag, type SettingFlags, settingsFromFlags } from './settings/flags.ts';
export type { Application, Canary, KeepRule } from './settings/kinds.ts';
export { type GivenContent, type LoadOptions, loadSettings } from './settings/load.ts';
export type { PlatformPaths, SettingSource, Settings } from './settings/settings.ts';
export { type SettingDoc, type ShownSetting, settingDocs, showSettings } from './settings/show.ts';
export { STATUS_NAMES, type StatusName } from './settings/status-names.ts';
export { renderDefaultYaml } from './yaml/template.ts';
