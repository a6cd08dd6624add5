import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { jsonFields, systemErrorCode } from '../../core/index.ts';

/** The holder of a lock, from its record. */
export interface LockHolder {
  pid: number;
  host: string;
  /** The command, such as `serve` or `backup`. */
  command: string;
  /** ISO 8601. */
  startedAt: string;
  /** The address of a running service. */
  baseUrl?: string;
  /** The address of its health and metrics, if they are on another port. */
  managementUrl?: string;
  /** Its certificate in PEM, if it uses https. */
  certificate?: string;
}

/** A record in its file. `owner` distinguishes the locks of one process. */
type StoredRecord = LockHolder & { owner: string };

/** Replaces a record with one rename. A record is useless after a crash, so it is not synced. */
export async function writeRecord(file: string, record: StoredRecord): Promise<void> {
  const temporary = `${file}.${record.owner}`;
  await writeFile(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Returns undefined if there is no readable record. */
export async function readRecord(file: string): Promise<StoredRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The file belongs to idkit, so these fields prove that the record is complete. */
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
 * The path of an exclusive holder's record. Never open the lock file itself, because closing it would release the lock
 * (POSIX).
 */
export function recordFile(path: string): string {
  return `${path}.json`;
}

/** The path of a shared holder's record. There may be several shared holders, so each has its own record. */
export function sharedRecordFile(path: string, owner: string): string {
  return `${path}.${owner}.json`;
}

/**
 * Removes the records of killed processes. The caller holds the lock: an exclusive holder is the only holder, and with a
 * shared holder there is no exclusive one.
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

/** Lists the names in a directory. A platform that never ran does not have it. */
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

/** Returns the exclusive holder, else the shared holders whose processes are alive. */
export async function findHolders(path: string): Promise<readonly LockHolder[]> {
  const exclusive = holderOf(await readRecord(recordFile(path)));
  if (exclusive !== undefined) return [exclusive];
  const records = await Promise.all((await listSharedRecords(path)).map(readRecord));
  return records.flatMap((record) => holderOf(record) ?? []).filter(isAlive);
}

/** A process on another machine counts as alive, because nothing is known about it. */
function isAlive({ pid, host }: LockHolder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}
