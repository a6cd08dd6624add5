import type { Secret } from '../../core/index.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';

/** The parts of a set that `--only` names. */
export const BACKUP_PARTS = ['database', 'realms', 'config', 'env'] as const;

/** One of the parts of a set. */
export type BackupPart = (typeof BACKUP_PARTS)[number];

export interface BackupOptions extends ProcedureOptions {
  /** Seals the set. Needed if the environment is among the parts: without it IDKIT_SETTING, before anything is done. */
  passphrase?: Secret;
  /** The backup root; `settings.backup.root` unless told. */
  to?: string;
  /** Days; `settings.backup.keepDays` unless told. */
  keepDays?: number;
  /** A directory, or `[user@]host:path` for rsync; `settings.backup.mirror` unless told. */
  mirror?: string;
  /** All parts unless told. */
  only?: readonly BackupPart[];
  /** Where the service is found, before its own record. */
  baseUrl?: string;
}

export interface BackupResult extends ProcedureResult {
  /** The published set's absolute path. */
  dir: string;
  /** `YYYYMMDD_HHMMSS`. */
  name: string;
  parts: readonly BackupPart[];
  /** Where the realm files came from; absent where they are no part of the set. */
  realmSource?: 'api' | 'snapshot';
  /** All files of the set, in bytes. */
  bytes: number;
  milliseconds: number;
  steps: readonly { id: string; milliseconds: number }[];
  /** Names of the sets that the retention rule deleted. */
  pruned: readonly string[];
}

/** The backup procedure in order (spec "Backup procedure"; the spec's seven steps are marked). */
export const BACKUP_STEPS = [
  {
    id: 'open',
    title: 'Lock the backup root and open a working directory',
    why: 'two procedures on one root would delete or publish each other’s work, and half a set must never look whole',
  },
  {
    id: 'database',
    title: 'Dump the database into keycloak-db.sql.gz (spec step 1)',
    why: 'the dump is the only full copy of users, sessions, keys and clients',
  },
  {
    id: 'realms',
    title: 'Fetch the representation of each realm (spec step 2)',
    why: 'a realm can be read, compared and made anew without loading a database',
  },
  {
    id: 'config',
    title: 'Archive the configuration directory without the environment file (spec step 3)',
    why: 'a restored service without its proxy files and themes is not the service',
  },
  {
    id: 'env',
    title: 'Encrypt the environment file into env.gpg (spec step 4)',
    why: 'without the master key in it the secrets in the dump cannot be opened',
  },
  {
    id: 'checksums',
    title: 'Write the manifest, the checksums and the seal (spec step 5)',
    why: 'damage can only be found against what was written, and tampering only against what a thief cannot write',
  },
  {
    id: 'read-back',
    title: 'Read the whole set back from the disk',
    why: 'a set that was never read is a hope, not a backup',
  },
  {
    id: 'publish',
    title: 'Publish the set by one rename',
    why: 'a set under its final name is whole, whatever happens to this process',
  },
  {
    id: 'versions',
    title: 'Keep the newest versions of the configuration and the environment',
    why: 'they change seldom, and are kept longer than the sets are',
  },
  {
    id: 'prune',
    title: 'Delete sets past their age (spec step 6)',
    why: 'a full disk ends every later backup; the newest good set is never deleted',
  },
  {
    id: 'mirror',
    title: 'Mirror the backup root (spec step 7)',
    why: 'a backup on the disk that burned with the service is none',
  },
] as const satisfies readonly StepDescription[];
