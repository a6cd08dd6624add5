import { existsSync } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Bytes of one block that `stat` counts. */
const BLOCK = 512;

/** The files of one restore. */
export interface SwapFiles {
  live: string;
  /** The loaded database before the swap. */
  staged: string;
  /** The previous database, which the restore keeps. */
  previous: string;
  /** Records that there was no previous database. */
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
 * Puts the staged database in the place of the live one. It checkpoints the live file's write-ahead log, gives the
 * file a second name, and renames the staged file over it. The live name never lacks a database. A call that was
 * interrupted may be repeated, and a call after a finished swap does nothing.
 */
export async function swapFile(files: SwapFiles): Promise<void> {
  if (!existsSync(files.staged)) {
    if (existsSync(files.previous) || existsSync(files.noPrevious)) return;
    throw new IdkitError('IDKIT_FAILED', `there is no loaded database ${files.staged} to put in place`);
  }
  foldLog(files.staged);
  await syncFile(files.staged);
  await keepPrevious(files);
  await removeLog(files.live);
  await rename(files.staged, files.live);
  await removeLog(files.staged);
  await syncDirectory(files.live);
}

/** Puts the previous database back. Does nothing if there was no swap. May be repeated. */
export async function swapFileBack(files: SwapFiles): Promise<void> {
  if (existsSync(files.noPrevious)) {
    if (!existsSync(files.staged)) await removeDatabase(files.live);
    await rm(files.noPrevious, { force: true });
  } else if (existsSync(files.previous)) {
    // Both names are the same file, so the live database was never replaced. A rename would leave both names (POSIX).
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

/** Removes the staged database and, with `previous`, the one that a swap kept. May be repeated. */
export async function discardFiles(files: SwapFiles, options: { previous: boolean }): Promise<void> {
  await removeDatabase(files.staged);
  if (options.previous) {
    await removeDatabase(files.previous);
    await rm(files.noPrevious, { force: true });
  }
  if (existsSync(dirname(files.live))) await syncDirectory(files.live);
}

/** Returns the number of bytes that `discardFiles` without `previous` frees. */
export async function stagedBytes({ staged }: SwapFiles): Promise<number> {
  let bytes = 0;
  for (const file of filesOf(staged)) if (existsSync(file)) bytes += (await stat(file)).blocks * BLOCK;
  return bytes;
}

/** Adds a second name to the live database, and to its log if the log could not be checkpointed. */
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

/** Creates a hard link, or renames on a file system without hard links. */
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
 * Checkpoints a database's write-ahead log. SQLite removes an empty log when the last connection closes. A database
 * that is too damaged to open keeps its log.
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
    // The log is kept next to the database, so nothing is lost.
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
