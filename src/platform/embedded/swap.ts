import { existsSync } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Bytes of one block that `stat` counts. */
const BLOCK = 512;

/** The files of one restore beside the live database. */
export interface SwapFiles {
  live: string;
  /** The loaded database, waiting. */
  side: string;
  /** The old database, kept aside. */
  old: string;
  /** Says that there was no old database to keep. */
  noOld: string;
}

/** Where the files of restore `id` lie. */
export function swapFiles(live: string, id: string): SwapFiles {
  if (!/^[A-Za-z0-9._-]+$/.test(id) || id.startsWith('.'))
    throw new IdkitError('IDKIT_USAGE', `a restore id holds letters, digits, dots and dashes only: "${id}"`);
  return {
    live,
    side: `${live}.restore-${id}`,
    old: `${live}.pre-${id}`,
    noOld: `${live}.pre-${id}.none`,
  };
}

/**
 * Puts the side database in the live one's place. The live file's write-ahead log is folded into it first; then
 * it gets a second name, and one rename replaces it: at no instruction is there no database under the live name.
 * A call that was cut off anywhere may be repeated; one after a finished swap does nothing.
 */
export async function swapIn(files: SwapFiles): Promise<void> {
  if (!existsSync(files.side)) {
    if (existsSync(files.old) || existsSync(files.noOld)) return;
    throw new IdkitError('IDKIT_FAILED', `there is no loaded database ${files.side} to put in place`);
  }
  foldLog(files.side);
  await syncFile(files.side);
  await keepOld(files);
  await removeLog(files.live);
  await rename(files.side, files.live);
  await removeLog(files.side);
  await syncDirectory(files.live);
}

/** Brings the old database back. Harmless where nothing was swapped; may be repeated. */
export async function swapBack(files: SwapFiles): Promise<void> {
  if (existsSync(files.noOld)) {
    if (!existsSync(files.side)) await removeDatabase(files.live);
    await rm(files.noOld, { force: true });
  } else if (existsSync(files.old)) {
    // Two names of one file: rename would leave both (POSIX), and the live one was never replaced.
    if (await isSameFile(files.old, files.live)) await rm(files.old);
    else {
      await removeLog(files.live);
      await rename(files.old, files.live);
    }
  }
  if (existsSync(logOf(files.old)) && !existsSync(logOf(files.live)))
    await rename(logOf(files.old), logOf(files.live));
  await syncDirectory(files.live);
}

/** Removes the side database and, with `old`, what a swap kept aside. May be repeated. */
export async function discard(files: SwapFiles, options: { old: boolean }): Promise<void> {
  await removeDatabase(files.side);
  if (options.old) {
    await removeDatabase(files.old);
    await rm(files.noOld, { force: true });
  }
  if (existsSync(dirname(files.live))) await syncDirectory(files.live);
}

/** What `discard` without `old` frees. */
export async function sideBytes({ side }: SwapFiles): Promise<number> {
  let bytes = 0;
  for (const file of filesOf(side)) if (existsSync(file)) bytes += (await stat(file)).blocks * BLOCK;
  return bytes;
}

/** Gives the live database its second name, with its log where that could not be folded in. */
async function keepOld(files: SwapFiles): Promise<void> {
  if (!existsSync(files.live)) {
    if (existsSync(files.old)) return;
    await (await open(files.noOld, 'w', 0o600)).close();
    await syncDirectory(files.live);
    return;
  }
  if (existsSync(files.old)) {
    if (await isSameFile(files.old, files.live)) return;
    throw new IdkitError('IDKIT_FAILED', `${files.old} is in the way and is not the live database`);
  }
  foldLog(files.live);
  await syncFile(files.live);
  if (existsSync(logOf(files.live))) await secondName(logOf(files.live), logOf(files.old));
  await secondName(files.live, files.old);
  await syncDirectory(files.live);
}

/** A hard link; a rename on a file system that has none. */
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
 * Folds a database's write-ahead log into it; SQLite removes an empty log when the last connection closes. A
 * database that is too damaged to be opened keeps its log.
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
    // Its log goes with it, so nothing is lost.
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

/** A database with what SQLite lays beside it. */
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
