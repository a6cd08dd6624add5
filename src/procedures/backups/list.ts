import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findVerdict,
  isEncryptedSet,
  judgeSets,
  listNewestDrills,
  listSets,
  type NewestDrill,
  openSet,
  type PrunableSet,
  parseManifest,
  SET_FILES,
  type SealState,
} from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import { backupRoot } from '../platform.ts';
import type { Finding, ProcedureOptions, ProcedureResult } from '../run.ts';

/** Lists the sets of a root, oldest first, with size and last verdict. Reads only the manifests. */
export async function listBackups(
  settings: Settings,
  options: ListBackupsOptions,
): Promise<ListBackupsResult> {
  const root = backupRoot(settings, options.root);
  const now = options.clock.now();
  const listed = await listSets(root, now);
  const judged = await judgeSets(root, listed.sets);
  const sets = await Promise.all(judged.map(async (set) => toEntry(root, set, now)));
  const findings: Finding[] = sets.filter(({ future }) => future).map(({ name }) => futureFinding(name));
  return { root, sets, drills: await listNewestDrills(root), findings };
}

/** Returns the finding about a set whose name is more than an hour ahead of the clock. */
export function futureFinding(name: string): Finding {
  return { code: 'SET_IN_FUTURE', message: `${name} is dated more than an hour ahead of the clock` };
}

async function toEntry(root: string, set: PrunableSet, now: number): Promise<BackupEntry> {
  const kept = await findVerdict(root, set.name);
  const names = await readdir(set.dir);
  return {
    name: set.name,
    dir: set.dir,
    startedAt: new Date(set.startedAt).toISOString(),
    ageSeconds: Math.floor((now - set.startedAt) / 1000),
    bytes: await sumBytes(set.dir, names),
    parts: await readParts(set.dir),
    sealed: names.includes(SET_FILES.seal),
    encrypted: isEncryptedSet(names),
    whole: set.whole,
    state: set.state,
    future: set.future,
    ...(kept?.shrunk === undefined ? {} : { shrunk: kept.shrunk }),
    ...(kept === undefined
      ? {}
      : {
          verified: {
            at: kept.at,
            verdict: kept.verdict,
            ...(kept.seal === undefined ? {} : { seal: kept.seal }),
            ...(kept.by === undefined ? {} : { by: kept.by }),
            ...(kept.isRead === undefined ? {} : { isRead: kept.isRead }),
            ...(kept.sqlBytes === undefined ? {} : { sqlBytes: kept.sqlBytes }),
          },
        }),
  };
}

async function sumBytes(dir: string, names: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const name of names) bytes += findEntry(join(dir, name))?.size ?? 0;
  return bytes;
}

async function readParts(dir: string): Promise<readonly string[]> {
  try {
    const set = await openSet(dir);
    if (!set.names.includes(SET_FILES.manifest)) return ['unknown'];
    return parseManifest(await set.read(SET_FILES.manifest)).parts;
  } catch (error) {
    // `verify` reports damage, the list does not.
    if (error instanceof IdkitError) return ['unknown'];
    throw error;
  }
}

/** One line of `backups list`. */
export interface BackupEntry {
  name: string;
  dir: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  ageSeconds: number;
  bytes: number;
  /** `unknown` if the set has no manifest. */
  parts: readonly string[];
  /** True if the set has a seal. Only `verify` checks that seal. */
  sealed: boolean;
  /** True if the whole set is encrypted, not only `env.gpg`. */
  encrypted: boolean;
  /** True if the set contains the database, so that it can be restored. */
  whole: boolean;
  /** True if the set is dated more than an hour ahead of the clock. */
  future: boolean;
  /** `bad` if the set lacks files, or if its last verdict is `damaged`. */
  state: PrunableSet['state'];
  /** What the set lost compared with the one before it. Absent if it lost nothing. */
  shrunk?: { losses: readonly string[]; accepted: boolean };
  /** The last verdict. `by` is `backup` if only the backup itself has read the set. */
  verified?: {
    at: string;
    verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable';
    seal?: SealState;
    by?: 'backup' | 'verify';
    /** False if the encrypted set was only compared with its checksums. */
    isRead?: boolean;
    /** The size of the dump's SQL in bytes. */
    sqlBytes?: number;
  };
}

export interface ListBackupsOptions {
  root?: string;
  clock: ProcedureOptions['clock'];
}

export interface ListBackupsResult extends ProcedureResult {
  root: string;
  sets: readonly BackupEntry[];
  /** The newest drill of each kind of platform, newest first. */
  drills: readonly NewestDrill[];
}

export interface PruneOptions extends ProcedureOptions {
  root?: string;
  keepDays?: number;
  dryRun?: boolean;
}

export interface PruneDecision {
  name: string;
  action: 'keep' | 'delete';
  reason: string;
}

export interface PruneResult extends ProcedureResult {
  root: string;
  decisions: readonly PruneDecision[];
  /** Names of the deleted sets. Empty with `dryRun`. */
  deleted: readonly string[];
  /** What happens to the chains of the archive, the oldest first. Absent without an archive. */
  archive?: readonly {
    name: string;
    action: 'keep' | 'trim' | 'delete';
    reason: string;
    /** How many files are deleted. */
    files: number;
  }[];
}
