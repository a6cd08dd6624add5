import type { ManifestRealm, SetPart, SetWriter } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import type { DumpSummary, Platform } from '../../platform/index.ts';
import type { Run } from '../run.ts';
import type { BACKUP_STEPS, BackupOptions } from './options.ts';

/** A step's id in the backup runbook. */
export type BackupStepId = (typeof BACKUP_STEPS)[number]['id'];

/** What the steps of one backup share. */
export interface BackupWork {
  settings: Settings;
  options: BackupOptions;
  run: Run<BackupStepId>;
  runtime: Platform;
  root: string;
  /** What the set is asked to hold. */
  parts: readonly SetPart[];
  /** Milliseconds since the Unix epoch that the set's name tells. */
  startedAt: number;
  writer: SetWriter;
}

/** The realm files of the set. */
export interface RealmFiles {
  source: 'api' | 'snapshot';
  realms: readonly (ManifestRealm & { file: string })[];
}

/** What the set turned out to hold; the manifest is made of it. */
export interface BackupContents {
  dump?: DumpSummary;
  realms?: RealmFiles;
  config: boolean;
  env: boolean;
}
