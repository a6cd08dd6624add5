import { existsSync } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Size in bytes of the blocks that `stat` counts. */
const BLOCK = 512;

/** The database files of one restore. */
export interface SwapFiles {
  live: string;
  /** The loaded database, before the swap renames it. */
  staged: string;
  /** The database that was live before the swap, which the restore keeps. */
  previous: string;
  /** An empty file which records that no database existed before the swap. */
  noPrevious: string;
}

/** Returns the paths of the files of restore `id`. */
export function swapFiles(live: string, id: string): SwapFiles {
  if (!/^[A-Za-z0-9._-]+$/.test(id) || id.startsWith('.'))
    throw new IdkitError(
      'IDKIT_USAGE',
      `a restore id may contain only letters, digits, dots and dashes: "${id}"`,
    );
  return {
    live,
    staged: `${live}.restore-${id}`,
    previous: `${live}.pre-${id}`,
    noPrevious: `${live}.pre-${id}.none`,
  };
}

/**
 * Replaces the live database with the staged one. It checkpoints the live file's write-ahead log, creates a second link
 * to the file, and renames the staged file over it, so that the live name always exists. An interrupted call can be
 * repeated. After a finished swap, a call does nothing.
 */
export async function swapFile(files: SwapFiles): Promise<void> {
  if (!existsSync(files.staged)) {
    if (existsSync(files.previous) || existsSync(files.noPrevious)) return;
    throw new IdkitError('IDKIT_FAILED', `the loaded database ${files.staged} does not exist`);
  }
  foldLog(files.staged);
  await syncFile(files.staged);
  await keepPrevious(files);
  await removeLog(files.live);
  await rename(files.staged, files.live);
  await removeLog(files.staged);
  await syncDirectory(files.live);
}

/** Puts the previous database back. Does nothing if there was no swap. An interrupted call can be repeated. */
export async function swapFileBack(files: SwapFiles): Promise<void> {
  if (existsSync(files.noPrevious)) {
    if (!existsSync(files.staged)) await removeDatabase(files.live);
    await rm(files.noPrevious, { force: true });
  } else if (existsSync(files.previous)) {
    // Both names refer to the same file, so the live database was never replaced. A rename between them would do
    // nothing (POSIX).
    if (await isSameFile(files.previous, files.live)) await rm(files.previous);
    else {
      await removeLog(files.live);
      await rename(files.previous, files.live);
    }
  }
  if (existsSync(logOf(files.previous)) && !existsSync(logOf(files.live)))
    await rename(logOf(files.previous), logOf(files.live));
  await syncDirectory(files.live);
}

/**
 * Removes the staged database and, with `previous`, also the database that a swap kept. An interrupted call can be
 * repeated.
 */
export async function discardFiles(files: SwapFiles, options: { previous: boolean }): Promise<void> {
  await removeDatabase(files.staged);
  if (options.previous) {
    await removeDatabase(files.previous);
    await rm(files.noPrevious, { force: true });
  }
  if (existsSync(dirname(files.live))) await syncDirectory(files.live);
}

/** Returns the size of the staged database on the disk in bytes. */
export async function stagedBytes({ staged }: SwapFiles): Promise<number> {
  let bytes = 0;
  for (const file of filesOf(staged)) if (existsSync(file)) bytes += (await stat(file)).blocks * BLOCK;
  return bytes;
}

/** Creates a second link to the live database, and to its write-ahead log if that could not be checkpointed. */
async function keepPrevious(files: SwapFiles): Promise<void> {
  if (!existsSync(files.live)) {
    if (existsSync(files.previous)) return;
    await (await open(files.noPrevious, 'w', 0o600)).close();
    await syncDirectory(files.live);
    return;
  }
  if (existsSync(files.previous)) {
    if (await isSameFile(files.previous, files.live)) return;
    throw new IdkitError('IDKIT_FAILED', `${files.previous} exists already and is not the live database`);
  }
  foldLog(files.live);
  await syncFile(files.live);
  if (existsSync(logOf(files.live))) await secondName(logOf(files.live), logOf(files.previous));
  await secondName(files.live, files.previous);
  await syncDirectory(files.live);
}

/** Creates a hard link. On a file system without hard links, it renames the file instead. */
async function secondName(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') {
      await rm(to);
      return secondName(from, to);
    }
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    await rename(from, to);
  }
}

/**
 * Checkpoints a database's write-ahead log. SQLite then removes the empty log when the connection closes. If the
 * database is too damaged to open, the log stays.
 */
function foldLog(file: string): void {
  if (!existsSync(logOf(file))) return;
  try {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } catch {
    // The write-ahead log stays next to the database, so nothing is lost.
  }
}

function logOf(file: string): string {
  return `${file}-wal`;
}

async function removeLog(file: string): Promise<void> {
  await rm(logOf(file), { force: true });
  await rm(`${file}-shm`, { force: true });
}

async function removeDatabase(file: string): Promise<void> {
  for (const name of filesOf(file)) await rm(name, { force: true });
}

/** Returns the paths of a database and of the files that SQLite creates next to it. */
function filesOf(file: string): readonly string[] {
  return [file, logOf(file), `${file}-shm`, `${file}-journal`];
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (!existsSync(one) || !existsSync(other)) return false;
  const [first, second] = [await stat(one), await stat(other)];
  return first.ino === second.ino && first.dev === second.dev;
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(file: string): Promise<void> {
  await syncFile(dirname(file));
}
