import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { jsonFields, systemErrorCode } from '../../core/index.ts';

/** The holder of a lock, as its record describes it. */
export interface LockHolder {
  pid: number;
  host: string;
  /** The command, such as `serve` or `backup`. */
  command: string;
  /** ISO 8601. */
  startedAt: string;
  /** The address of a running service. */
  baseUrl?: string;
  /** The address of metrics and detailed health, if they have their own port. */
  managementUrl?: string;
  /** The service's certificate in PEM, if it uses https. */
  certificate?: string;
}

/** The record as stored. `owner` distinguishes several locks of one process. */
type StoredRecord = LockHolder & { owner: string };

/** Replaces a record atomically. The file is not synced, because a record is useless after a crash. */
export async function writeRecord(file: string, record: StoredRecord): Promise<void> {
  const temporary = `${file}.${record.owner}`;
  await writeFile(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Reads the record of a lock. Returns undefined if it does not exist or is damaged. */
export async function readRecord(file: string): Promise<StoredRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the fields that distinguish a complete record. Only idkit writes the file, so other fields need no check. */
function isRecord(record: unknown): record is StoredRecord {
  const { pid, command } = jsonFields(record);
  return typeof pid === 'number' && typeof command === 'string';
}

export function holderOf(record: StoredRecord | undefined): LockHolder | undefined {
  if (record === undefined) return undefined;
  const { owner: _, ...holder } = record;
  return holder;
}

/**
 * Returns the path of an exclusive holder's record. Never open the lock file itself: closing it would release the lock
 * (POSIX).
 */
export function recordFile(path: string): string {
  return `${path}.json`;
}

/** Returns the path of a shared holder's record. Each shared holder has its own record. */
export function sharedRecordFile(path: string, owner: string): string {
  return `${path}.${owner}.json`;
}

/**
 * Removes the records of killed processes. The caller must hold the lock. If it holds the lock exclusively, all other
 * records are stale. If it shares the lock, a record of an exclusive holder is stale.
 */
export async function removeStaleRecords(path: string, mode: 'exclusive' | 'shared'): Promise<void> {
  const shared = await listSharedRecords(path);
  const stale = mode === 'exclusive' ? shared : [recordFile(path), ...(await filterDead(shared))];
  for (const file of stale) await rm(file, { force: true });
}

async function listSharedRecords(path: string): Promise<readonly string[]> {
  const start = `${basename(path)}.`;
  const names = await namesIn(dirname(path));
  return names
    .filter((name) => name.startsWith(start) && /^[0-9a-f-]{36}\.json$/.test(name.slice(start.length)))
    .map((name) => join(dirname(path), name));
}

/** Lists the names in a directory. Returns none if the directory does not exist, because the platform has never run. */
async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function filterDead(files: readonly string[]): Promise<readonly string[]> {
  const holders = await Promise.all(files.map(readRecord));
  return files.filter((_, index) => {
    const holder = holders[index];
    return holder !== undefined && !isAlive(holder);
  });
}

/** Returns the exclusive holder. If there is none, returns the shared holders whose processes are alive. */
export async function findHolders(path: string): Promise<readonly LockHolder[]> {
  const exclusive = holderOf(await readRecord(recordFile(path)));
  if (exclusive !== undefined) return [exclusive];
  const records = await Promise.all((await listSharedRecords(path)).map(readRecord));
  return records.flatMap((record) => holderOf(record) ?? []).filter(isAlive);
}

/** True if the process is running. A process on another machine counts as running, because idkit cannot check it. */
function isAlive({ pid, host }: LockHolder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}
