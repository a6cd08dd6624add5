import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Verdict } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { renderBytes } from '../age.ts';
import { findEntry } from '../durable.ts';

/** A loaded database is larger than its SQL by its indexes and its log. */
const DATABASE_PER_SQL_BYTE = 2;

/** What a file system has, and what the restore will lay on it. */
export interface Room {
  /** A directory on it, for people. */
  place: string;
  neededBytes: number;
  freeBytes: number;
}

/**
 * Room for the side database beside the live one and for the staged files, on each file system that takes them.
 *
 * @returns the tightest of them
 * @throws IDKIT_NO_SPACE
 */
export async function checkRoom(next: Settings, verdict: Verdict): Promise<Room> {
  const sqlBytes = verdict.dump?.bytes ?? 0;
  const databaseBytes = Math.max(sqlBytes * DATABASE_PER_SQL_BYTE, verdict.manifest?.database?.bytes ?? 0);
  const { database } = next;
  const rooms = new Map<number, Room>();
  await add(rooms, database.kind === 'sqlite' ? dirname(database.file) : next.dir, databaseBytes);
  await add(rooms, next.dir, verdict.bytes);
  const left = ({ neededBytes, freeBytes }: Room) => freeBytes - neededBytes;
  const [tightest] = [...rooms.values()].sort((one, other) => left(one) - left(other));
  const { neededBytes, freeBytes, place } = tightest!;
  if (freeBytes >= neededBytes) return tightest!;
  throw new IdkitError(
    'IDKIT_NO_SPACE',
    `the restore needs ${renderBytes(neededBytes)} beside the live database, and ${renderBytes(freeBytes)} are free`,
    { hints: ['nothing was touched', `make room on the disk of ${place}`] },
  );
}

async function add(rooms: Map<number, Room>, path: string, bytes: number): Promise<void> {
  const place = await nearestDirectory(path);
  const { dev } = await stat(place);
  const room = rooms.get(dev);
  if (room !== undefined) {
    room.neededBytes += bytes;
    return;
  }
  const { bavail, bsize } = await statfs(place);
  rooms.set(dev, { place: path, neededBytes: bytes, freeBytes: bavail * bsize });
}

async function nearestDirectory(path: string): Promise<string> {
  let dir = path;
  while ((await findEntry(dir)) === undefined && dirname(dir) !== dir) dir = dirname(dir);
  return dir;
}
