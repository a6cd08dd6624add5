import type { SetPart } from '../../backupset/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';

/** The parts of a set that `--only` can name. */
export const BACKUP_PARTS = ['database', 'realms', 'config', 'env'] as const;

export type BackupPart = (typeof BACKUP_PARTS)[number];

export interface BackupOptions extends ProcedureOptions {
  /** Seals the set. Required for the part `env`: without it the backup ends with IDKIT_SETTING before it begins. */
  passphrase?: Secret;
  /** The backup root. Default: `settings.backup.root`. */
  to?: string;
  /** Default: `settings.backup.keepDays`. */
  keepDays?: number;
  /** The location of the mirror, see `parseLocation`. Default: `settings.backup.mirror`. */
  mirror?: string;
  /** Default: all parts. */
  only?: readonly BackupPart[];
  /** Base URL of the service. Default: the URL that the running service recorded. */
  baseUrl?: string;
  /** Accepts what the set lost compared with the newest good set, so that later backups are compared with this one. */
  acceptShrink?: boolean;
}

export interface BackupResult extends ProcedureResult {
  /** Absolute path of the published set. */
  dir: string;
  /** `YYYYMMDD_HHMMSS`. */
  name: string;
  parts: readonly BackupPart[];
  /** Source of the realm files. Absent if the set has none. */
  realmSource?: 'api' | 'snapshot';
  /** Total size of the set's files in bytes. */
  bytes: number;
  milliseconds: number;
  steps: readonly { id: string; milliseconds: number }[];
  /** Names of the sets that the retention rule deleted. */
  pruned: readonly string[];
  /** What the set lost compared with the newest good set. Absent if it lost nothing. */
  shrunk?: { losses: readonly string[]; accepted: boolean };
}

/** The steps of a backup, in order. */
export const BACKUP_STEPS = [
  {
    id: 'open',
    title: 'Lock the backup root and open a working directory',
    why: 'two parallel backups would delete or publish each other’s work, and half a set must never look complete',
  },
  {
    id: 'database',
    title: 'Dump the database into keycloak-db.sql.gz',
    why: 'the dump is the only complete copy of users, sessions, keys and clients',
  },
  {
    id: 'realms',
    title: 'Fetch the representation of each realm',
    why: 'a realm can then be read, compared and created again without a database',
  },
  {
    id: 'config',
    title: 'Archive the configuration directory without the environment file',
    why: 'the service also needs its proxy files and themes',
  },
  {
    id: 'env',
    title: 'Encrypt the environment file into env.gpg',
    why: 'without its master key the secrets in the dump cannot be decrypted',
  },
  {
    id: 'checksums',
    title: 'Write the manifest, the checksums and the seal',
    why: 'checksums reveal damage, and the seal reveals tampering by anyone without the passphrase',
  },
  {
    id: 'read-back',
    title: 'Read the complete set back from the disk',
    why: 'a set that was never read may be unreadable',
  },
  {
    id: 'watch',
    title: 'Compare the set with the newest good set',
    why: 'a whole set of an emptied database looks healthy, and retention would soon delete the last useful one',
  },
  {
    id: 'publish',
    title: 'Publish the set with one rename',
    why: 'a set with its final name is complete, even if this process is killed',
  },
  {
    id: 'versions',
    title: 'Keep the newest versions of the configuration and the environment',
    why: 'they change rarely and are kept longer than the sets',
  },
  {
    id: 'prune',
    title: 'Delete expired sets',
    why: 'a full disk would make every later backup fail; the newest good set is never deleted',
  },
  {
    id: 'mirror',
    title: 'Mirror the backup root',
    why: 'a fire destroys the service together with every backup on the same machine',
  },
] as const satisfies readonly StepDescription[];

/** Returns the parts that the set will contain. @throws IDKIT_USAGE, IDKIT_SETTING without a required passphrase */
export function chooseParts(options: BackupOptions): readonly SetPart[] {
  const parts = BACKUP_PARTS.filter((part) => options.only?.includes(part) ?? true);
  if (parts.length === 0) throw new IdkitError('IDKIT_USAGE', '--only must name at least one part of a set');
  if (parts.includes('env') && options.passphrase === undefined)
    throw missingPassphrase('the passphrase of env.gpg is missing');
  return parts;
}

/** Returns the error for a backup without the passphrase that it needs. */
export function missingPassphrase(message: string): IdkitError {
  return new IdkitError('IDKIT_SETTING', message, {
    hints: [
      'set IDKIT_BACKUP_PASSPHRASE in the process environment',
      'or set IDKIT_BACKUP_PASSPHRASE_FILE to a file with the passphrase in its first line',
      'or set IDKIT_BACKUP_PASSPHRASE_COMMAND to a command that prints the passphrase',
    ],
  });
}

/** True if a part comes from the database. */
export function readsDatabase(parts: readonly SetPart[]): boolean {
  return parts.includes('database') || parts.includes('realms');
}
