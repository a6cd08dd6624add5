import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listConfigArchive, SET_FILES, type Verdict } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { renderBytes } from '../age.ts';
import { findEntry } from '../durable.ts';
import { listJournals } from './journal.ts';
import { undoableOf } from './leftovers.ts';
import { stagingDirectory } from './replace-files.ts';
import type { NextPlatform, RestoreJob } from './work.ts';

/** A loaded database is larger than its SQL by its indexes and its log. */
const DATABASE_PER_SQL_BYTE = 2;

/** A file takes whole blocks of this many bytes. */
const FILE_BLOCK = 4096;

/** Bytes of one block that `stat` counts. */
const STAT_BLOCK = 512;

/** What a file system has, and what the restore will lay on it. */
export interface Room {
  /** A directory on it, for people. */
  place: string;
  neededBytes: number;
  freeBytes: number;
}

/** A directory, and bytes on its disk. */
interface Share {
  path: string;
  bytes: number;
}

/**
 * Room for the side database beside the live one and for the staged files, on each file system that takes them.
 * What a killed restore left beside them is cleared first, so it counts as free.
 *
 * @param asks false: the server is not asked for its room
 * @returns the tightest of them
 * @throws IDKIT_NO_SPACE
 */
export async function checkRoom(
  job: RestoreJob,
  next: NextPlatform,
  verdict: Verdict,
  asks: boolean,
): Promise<Room> {
  const rooms = new Map<number, Room>();
  const database = asks ? await next.runtime.databaseRoom() : { place: 'the database', here: false };
  const needs = [{ path: next.settings.dir, bytes: await stagedBytes(job) }];
  // In place the old one goes first.
  const bytes = job.options.inPlace === undefined ? databaseBytes(verdict) : 0;
  if (database.here) needs.push({ path: database.place, bytes });
  for (const need of needs) (await roomOf(rooms, need.path)).neededBytes += need.bytes;
  for (const share of await listLeftovers(job)) (await roomOf(rooms, share.path)).freeBytes += share.bytes;
  const left = ({ neededBytes, freeBytes }: Room) => freeBytes - neededBytes;
  const elsewhere: readonly Room[] =
    database.here || database.freeBytes === undefined
      ? []
      : [{ place: database.place, neededBytes: bytes, freeBytes: database.freeBytes }];
  const [tightest] = [...rooms.values(), ...elsewhere].sort((one, other) => left(one) - left(other));
  const { neededBytes, freeBytes, place } = tightest!;
  if (freeBytes >= neededBytes) return tightest!;
  throw new IdkitError(
    'IDKIT_NO_SPACE',
    `the restore needs ${renderBytes(neededBytes)} beside the live database, and ${renderBytes(freeBytes)} are free`,
    {
      hints: [
        'nothing was touched',
        `make room on the disk of ${place}`,
        ...(database.here ? [] : ['or --in-place --confirm NAME, which empties the live database first']),
      ],
    },
  );
}

function databaseBytes({ dump, manifest }: Verdict): number {
  return Math.max((dump?.bytes ?? 0) * DATABASE_PER_SQL_BYTE, manifest?.database?.bytes ?? 0);
}

/** What `stageFiles` will unpack. */
async function stagedBytes({ set, options, settings }: RestoreJob): Promise<number> {
  const unpacks = set.names.includes(SET_FILES.config) && !(options.keepConfig === true && settings.exists);
  const entries = unpacks ? await listConfigArchive(set, { signal: options.signal }) : [];
  return entries.reduce((sum, { size }) => sum + Math.ceil(size / FILE_BLOCK + 1) * FILE_BLOCK, FILE_BLOCK);
}

async function roomOf(rooms: Map<number, Room>, path: string): Promise<Room> {
  const place = await nearestDirectory(path);
  const { dev } = await stat(place);
  const known = rooms.get(dev);
  if (known !== undefined) return known;
  const { bavail, bsize } = await statfs(place);
  const room = { place: path, neededBytes: 0, freeBytes: bavail * bsize };
  rooms.set(dev, room);
  return room;
}

async function nearestDirectory(path: string): Promise<string> {
  let dir = path;
  while ((await findEntry(dir)) === undefined && dirname(dir) !== dir) dir = dirname(dir);
  return dir;
}

/** What restores left that ended before they changed anything. */
async function listLeftovers({ settings, dataDir, options }: RestoreJob): Promise<readonly Share[]> {
  const shares: Share[] = [];
  for (const journal of await listJournals(dataDir)) {
    if (journal.state !== 'staging') continue;
    const env = options.env ?? process.env;
    const { runtime, dir } = await undoableOf(settings, dataDir, journal, env);
    const { here, place } = await runtime.databaseRoom();
    if (here) shares.push({ path: place, bytes: await runtime.sideBytes(journal.id) });
    shares.push({ path: dir, bytes: await bytesBelow(stagingDirectory({ dir, id: journal.id })) });
  }
  return shares;
}

async function bytesBelow(dir: string): Promise<number> {
  if ((await findEntry(dir)) === undefined) return 0;
  let bytes = 0;
  for (const name of await readdir(dir, { recursive: true })) {
    const entry = await findEntry(join(dir, name));
    bytes += (entry?.blocks ?? 0) * STAT_BLOCK;
  }
  return bytes;
}
