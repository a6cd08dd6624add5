import { statfs } from 'node:fs/promises';
import { encryptedName, openSet, parseManifest, SET_FILES } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { errorMessage, IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import type { DatabaseSpace, Platform } from '../../platform/index.ts';
import type { BackupEntry } from '../backups/list.ts';
import { databaseBytes, nearestDirectory } from '../restore/disk-space.ts';
import { renderBytes } from '../units.ts';
import { finding, type Judgement, warning } from './judge.ts';

/** Estimated size of SQL for each byte of a compressed dump, if the set was never verified. */
const SQL_PER_DUMP_BYTE = 8;
/** Estimated size of the configuration for each byte of its archive. */
const UNPACKED_PER_BYTE = 5;

/** The needed and the free space of one place, in bytes. */
export interface DiskRow {
  place: string;
  purpose: 'restore' | 'backup';
  neededBytes: number;
  freeBytes: number;
}

/** The space for a restore of the newest set and for the next backup. */
export interface FoundDisks {
  disks: readonly DiskRow[];
  /** Why the space for a restore is unknown. */
  unknown?: string;
}

/** Compares the free space with what a restore of `newest` and the next set need. */
export async function findDisks(
  settings: Settings,
  platform: Platform,
  newest: BackupEntry | undefined,
): Promise<FoundDisks> {
  if (newest === undefined) return { disks: [] };
  const root = { place: settings.backup.root, freeBytes: await freeBytes(settings.backup.root) };
  const backup: DiskRow = { ...root, purpose: 'backup', neededBytes: newest.bytes };
  try {
    const [needed, space] = await Promise.all([estimateRestore(newest), platform.database.findSpace()]);
    return { disks: [...(await restoreRows(settings.dir, needed, space)), backup] };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { disks: [backup], unknown: errorMessage(error) };
  }
}

interface Needed {
  database: number;
  files: number;
}

/** Estimates what a restore writes, by the same rule as the restore, which reads the whole dump for it. */
async function estimateRestore({ dir, verified }: BackupEntry): Promise<Needed> {
  const set = await openSet(dir);
  const sizeOf = (name: string) =>
    (findEntry(`${dir}/${name}`) ?? findEntry(`${dir}/${encryptedName(name)}`))?.size ?? 0;
  const manifest = set.names.includes(SET_FILES.manifest)
    ? parseManifest(await set.read(SET_FILES.manifest))
    : undefined;
  const sqlBytes =
    verified?.sqlBytes ?? (manifest?.database === undefined ? sizeOf(SET_FILES.dump) * SQL_PER_DUMP_BYTE : 0);
  return {
    database: databaseBytes(sqlBytes, manifest),
    files: sizeOf(SET_FILES.config) * UNPACKED_PER_BYTE,
  };
}

async function restoreRows(dir: string, needed: Needed, space: DatabaseSpace): Promise<readonly DiskRow[]> {
  const own = { place: dir, purpose: 'restore' as const, freeBytes: await freeBytes(dir) };
  if (!space.here)
    return [
      { ...own, neededBytes: needed.files },
      ...(space.freeBytes === undefined
        ? []
        : [
            {
              place: space.place,
              purpose: 'restore' as const,
              neededBytes: needed.database,
              freeBytes: space.freeBytes,
            },
          ]),
    ];
  // Both are usually on one file system, where the database is by far the larger share.
  return [
    {
      place: space.place,
      purpose: 'restore',
      neededBytes: needed.database + needed.files,
      freeBytes: await freeBytes(space.place),
    },
  ];
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(nearestDirectory(path));
  return bavail * bsize;
}

export function judgeDisks({ disks, unknown }: FoundDisks): readonly Judgement[] {
  const low = disks
    .filter(({ neededBytes, freeBytes }) => freeBytes < neededBytes)
    .map(({ place, purpose, neededBytes, freeBytes }) => {
      const sizes = `${renderBytes(neededBytes)}, but only ${renderBytes(freeBytes)} are free on the disk of ${place}`;
      return purpose === 'restore'
        ? finding('DISK_LOW', `a restore of the newest set needs about ${sizes}; free up space there`)
        : finding('BACKUP_DISK_LOW', `another set needs about ${sizes}; free up space or set backup.root`);
    });
  if (unknown === undefined) return low;
  return [...low, warning('DISK_UNKNOWN', `the free space for a restore is unknown: ${unknown}`)];
}
