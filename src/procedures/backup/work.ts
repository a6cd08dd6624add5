import type { ManifestRealm, SetPart, SetWriter } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import type { DumpSummary, Platform } from '../../platform/index.ts';
import type { Run } from '../run.ts';
import type { BACKUP_STEPS, BackupOptions } from './options.ts';

/** Id of a step in the backup runbook. */
export type BackupStepId = (typeof BACKUP_STEPS)[number]['id'];

/** The values that the steps of one backup share. */
export interface BackupWork {
  settings: Settings;
  options: BackupOptions;
  run: Run<BackupStepId>;
  platform: Platform;
  root: string;
  /** The chosen parts. */
  parts: readonly SetPart[];
  /** Unix time in milliseconds. The name of the set contains it. */
  startedAt: number;
  writer: SetWriter;
}

/** The realm files of the set. */
export interface RealmFiles {
  source: 'api' | 'snapshot';
  realms: readonly (ManifestRealm & { file: string })[];
}

/** The parts that were written. The manifest describes them. */
export interface BackupContents {
  dump?: DumpSummary;
  realms?: RealmFiles;
  config: boolean;
  env: boolean;
}
