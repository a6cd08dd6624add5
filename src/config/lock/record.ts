import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';

/** Who holds a lock, as its record says. */
export interface LockHolder {
  pid: number;
  host: string;
  /** For example `serve`, `backup`. */
  command: string;
  /** ISO 8601. */
  startedAt: string;
  /** Where the holder answers, for a running service. */
  baseUrl?: string;
  /** Where its health and metrics are, where that is another port. */
  managementUrl?: string;
  /** Its certificate in PEM, where it answers by https. */
  certificate?: string;
}

/** A record as it lies on the disk; `owner` tells one lock of a process from another. */
type StoredRecord = LockHolder & { owner: string };

/** Writes a record by one rename. */
export async function writeRecord(file: string, record: StoredRecord): Promise<void> {
  const temporary = `${file}.${record.owner}`;
  await writeFile(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Undefined where there is none, or none that can be read. */
export async function readRecord(file: string): Promise<StoredRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(file, 'utf8')) as StoredRecord;
    return typeof record.pid === 'number' && typeof record.command === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** What a record says of its holder. */
export function holderOf(record: StoredRecord | undefined): LockHolder | undefined {
  if (record === undefined) return undefined;
  const { owner: _, ...holder } = record;
  return holder;
}

/** Where an exclusive holder's record lies. Never open the lock file itself: closing it would free the lock (POSIX). */
export function recordFile(path: string): string {
  return `${path}.json`;
}

/** Shared holders come and go beside each other, so each has a record of its own. */
export function sharedRecordFile(path: string, owner: string): string {
  return `${path}.${owner}.json`;
}

/**
 * Removes what killed processes left: who holds the lock exclusively is alone, and beside a shared holder there is
 * no exclusive one.
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

/** A platform that never ran has no such directory. */
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
    return holder !== undefined && !lives(holder);
  });
}

/** The exclusive holder, else the shared ones that live. */
export async function findHolders(path: string): Promise<readonly LockHolder[]> {
  const exclusive = holderOf(await readRecord(recordFile(path)));
  if (exclusive !== undefined) return [exclusive];
  const records = await Promise.all((await listSharedRecords(path)).map(readRecord));
  return records.flatMap((record) => holderOf(record) ?? []).filter(lives);
}

/** Of another machine nothing is known. */
function lives({ pid, host }: LockHolder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}
