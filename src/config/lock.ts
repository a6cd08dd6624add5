import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { IdkitError, systemErrorCode } from '../core/index.ts';

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

/** A held kernel lock. */
export interface Lock {
  /** Adds to the record, for example the address once the service listens. */
  note(more: Pick<LockHolder, 'baseUrl' | 'managementUrl' | 'certificate'>): Promise<void>;
  /** Removes the record and frees the lock. Idempotent. */
  release(): Promise<void>;
}

/** What to lock for. */
export interface LockOptions {
  /** `shared` locks exist beside each other; `exclusive` excludes all others. */
  mode: 'exclusive' | 'shared';
  record: Pick<LockHolder, 'command'> & Partial<Pick<LockHolder, 'startedAt' | 'baseUrl'>>;
}

/** A glance at a lock by `readLockHolder` holds it for a moment; a taker tries again within this time. */
const TRIES = 8;
const BETWEEN_TRIES_MS = 25;

/** Where the record of a lock lies. Never open the lock file itself: closing it would free the lock (POSIX). */
function recordFile(path: string): string {
  return `${path}.json`;
}

/**
 * Takes a kernel lock: a lock database that is held by a transaction, so that any death of the process frees it
 * (contract §3, "Locks"). A record beside it, `PATH.json`, names the holder.
 *
 * @throws IDKIT_LOCKED that names the holder, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const database = await take(path, options.mode);
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    command: options.record.command,
    startedAt: options.record.startedAt ?? new Date().toISOString(),
    ...(options.record.baseUrl === undefined ? {} : { baseUrl: options.record.baseUrl }),
  };
  const owner = randomUUID();
  try {
    await writeRecord(path, { ...holder, owner });
  } catch (cause) {
    database.close();
    throw notWritable(path, cause);
  }
  let released = false;
  return {
    note: (more) => writeRecord(path, { ...holder, ...more, owner }),
    release: async () => {
      if (released) return;
      released = true;
      try {
        if ((await readRecord(path))?.owner === owner) await rm(recordFile(path), { force: true });
      } finally {
        database.close();
      }
    },
  };
}

/**
 * Who holds the lock exclusively now, or undefined where nobody does. A record that a killed process left behind
 * is not believed.
 */
export async function readLockHolder(path: string): Promise<LockHolder | undefined> {
  if (!existsSync(path)) return undefined;
  const free = tryTake(path, 'shared', true);
  if (free !== undefined) {
    free.close();
    return undefined;
  }
  return holderOf(await readRecord(path)) ?? { pid: 0, host: hostname(), command: 'unknown', startedAt: '' };
}

async function take(path: string, mode: LockOptions['mode']): Promise<DatabaseSync> {
  for (let left = TRIES; left > 0; left--) {
    const database = tryTake(path, mode, false);
    if (database !== undefined) return database;
    if (left > 1) await pause(BETWEEN_TRIES_MS);
  }
  const holder = holderOf(await readRecord(path));
  const who =
    holder === undefined
      ? 'another process'
      : `${holder.command}, process ${holder.pid} on ${holder.host} since ${holder.startedAt}`;
  throw new IdkitError('IDKIT_LOCKED', `${path} is held by ${who}`, {
    hints: ['wait until it has ended, or end it, then try again'],
  });
}

/** Undefined: somebody else holds it. */
function tryTake(path: string, mode: LockOptions['mode'], readOnly: boolean): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0, readOnly });
    if (mode === 'exclusive') database.exec('BEGIN EXCLUSIVE');
    else {
      database.exec('BEGIN');
      database.prepare('SELECT count(*) FROM sqlite_schema').get();
    }
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) return undefined;
    throw notWritable(path, error);
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode;
  return code !== undefined && (code & 0xff) === 5;
}

function notWritable(path: string, cause: unknown): IdkitError {
  if (cause instanceof IdkitError) return cause;
  if (systemErrorCode(cause) === 'ENOSPC')
    return new IdkitError('IDKIT_NO_SPACE', `no room for the lock ${path}`, { cause });
  return new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `the lock ${path} cannot be written`, { cause });
}

type StoredRecord = LockHolder & { owner: string };

async function writeRecord(path: string, record: StoredRecord): Promise<void> {
  const temporary = `${recordFile(path)}.${record.owner}`;
  await writeFile(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(temporary, recordFile(path));
}

async function readRecord(path: string): Promise<StoredRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(recordFile(path), 'utf8')) as StoredRecord;
    return typeof record.pid === 'number' && typeof record.command === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

function holderOf(record: StoredRecord | undefined): LockHolder | undefined {
  if (record === undefined) return undefined;
  const { owner: _, ...holder } = record;
  return holder;
}
