import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listConfigArchive, type Manifest, SET_FILES } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import { renderBytes } from '../units.ts';
import { stagingDirectory } from './files-in-place.ts';
import { listJournals } from './journal.ts';
import { openOldState } from './old-state.ts';
import type { NextPlatform, Restore } from './work.ts';

/** Estimated size of a loaded database with its indexes and log, in bytes for each byte of its SQL. */
const DATABASE_PER_SQL_BYTE = 2;

/** Block size in bytes. A file occupies whole blocks. */
const FILE_BLOCK = 4096;

/** Size in bytes of the blocks that `stat` counts. */
const STAT_BLOCK = 512;

/** The needed and the free space of one file system. */
export interface DiskSpace {
  /** A directory on the file system, which messages name. */
  place: string;
  neededBytes: number;
  freeBytes: number;
}

/** Space that is needed on the file system of `path`. */
interface Share {
  path: string;
  bytes: number;
}

/**
 * Checks that every file system has enough space for the staged database and the staged files. The leftovers of killed
 * restores count as free, because `stage` removes them first.
 *
 * @param asks if false, the database server is not contacted
 * @returns the space of the file system with the least space left
 * @throws IDKIT_NO_SPACE
 */
export async function checkDiskSpace(
  restore: Restore,
  next: NextPlatform,
  asks: boolean,
): Promise<DiskSpace> {
  const spaces = new Map<number, DiskSpace>();
  const database = asks ? await next.platform.database.findSpace() : { place: 'the database', here: false };
  const needs: Share[] = [{ path: next.settings.dir, bytes: await stagedBytes(restore) }];
  // With --in-place the live database is emptied before the load.
  const { dump, manifest } = restore.verified.verdict;
  const bytes = restore.options.inPlace === undefined ? databaseBytes(dump?.bytes ?? 0, manifest) : 0;
  if (database.here) needs.push({ path: database.place, bytes });
  for (const need of needs) (await spaceOf(spaces, need.path)).neededBytes += need.bytes;
  for (const share of await listLeftovers(restore))
    (await spaceOf(spaces, share.path)).freeBytes += share.bytes;
  const remote: readonly DiskSpace[] =
    database.here || database.freeBytes === undefined
      ? []
      : [{ place: database.place, neededBytes: bytes, freeBytes: database.freeBytes }];
  const left = ({ neededBytes, freeBytes }: DiskSpace) => freeBytes - neededBytes;
  const tightest = [...spaces.values(), ...remote].reduce((one, other) =>
    left(other) < left(one) ? other : one,
  );
  const { neededBytes, freeBytes, place } = tightest;
  if (freeBytes >= neededBytes) return tightest;
  throw new IdkitError(
    'IDKIT_NO_SPACE',
    `the restore needs ${renderBytes(neededBytes)} in addition to the live database, but only ${renderBytes(freeBytes)} are free`,
    {
      hints: [
        'nothing was touched',
        `free up space on the disk that holds ${place}`,
        ...(database.here ? [] : ['or use --in-place --confirm NAME, which empties the live database first']),
      ],
    },
  );
}

/** Estimates the size in bytes of a loaded database. @param sqlBytes the size of its SQL; 0 if unknown */
export function databaseBytes(sqlBytes: number, manifest: Manifest | undefined): number {
  return Math.max(sqlBytes * DATABASE_PER_SQL_BYTE, manifest?.database?.bytes ?? 0);
}

/** Returns the size in bytes of the files that the step `stage` unpacks. */
async function stagedBytes({ set, options, settings }: Restore): Promise<number> {
  const unpacks = set.names.includes(SET_FILES.config) && !(options.keepConfig === true && settings.exists);
  const entries = unpacks ? await listConfigArchive(set, { signal: options.signal }) : [];
  return entries.reduce((sum, { size }) => sum + Math.ceil(size / FILE_BLOCK + 1) * FILE_BLOCK, FILE_BLOCK);
}

/**
 * Returns the space of the file system that contains the path.
 *
 * @param spaces the known file systems by their device numbers; a new one is added
 */
async function spaceOf(spaces: Map<number, DiskSpace>, path: string): Promise<DiskSpace> {
  const place = nearestDirectory(path);
  const { dev } = await stat(place);
  const known = spaces.get(dev);
  if (known !== undefined) return known;
  const { bavail, bsize } = await statfs(place);
  const space = { place: path, neededBytes: 0, freeBytes: bavail * bsize };
  spaces.set(dev, space);
  return space;
}

/** Returns the path, or the nearest of its parents that exists. */
export function nearestDirectory(path: string): string {
  let dir = path;
  while (findEntry(dir) === undefined && dirname(dir) !== dir) dir = dirname(dir);
  return dir;
}

/** Returns the leftovers of restores that ended before they changed the platform. */
async function listLeftovers({ settings, dataDir, options }: Restore): Promise<readonly Share[]> {
  const shares: Share[] = [];
  for (const journal of await listJournals(dataDir)) {
    if (journal.state !== 'staging') continue;
    const env = options.env ?? process.env;
    const { platform, dir } = await openOldState(settings, dataDir, journal, env);
    const { here, place } = await platform.database.findSpace();
    if (here) shares.push({ path: place, bytes: await platform.database.stagedBytes(journal.id) });
    shares.push({ path: dir, bytes: await bytesBelow(stagingDirectory({ dir, id: journal.id })) });
  }
  return shares;
}

async function bytesBelow(dir: string): Promise<number> {
  if (findEntry(dir) === undefined) return 0;
  let bytes = 0;
  for (const name of await readdir(dir, { recursive: true })) {
    bytes += (findEntry(join(dir, name))?.blocks ?? 0) * STAT_BLOCK;
  }
  return bytes;
}
