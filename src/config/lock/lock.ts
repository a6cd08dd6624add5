import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import { writeFault } from '../../files/index.ts';
import {
  findHolders,
  holderOf,
  type LockHolder,
  readRecord,
  recordFile,
  removeStaleRecords,
  sharedRecordFile,
  writeRecord,
} from './record.ts';

/** A kernel lock that this process holds. */
export interface Lock {
  /** Adds data to the holder's record, for example the address at which the service listens. */
  note(more: Pick<LockHolder, 'baseUrl' | 'managementUrl' | 'certificate'>): Promise<void>;
  /** Removes the record and releases the lock. Idempotent. */
  release(): Promise<void>;
}

export interface LockOptions {
  /**
   * Several processes can hold a `shared` lock. While one process holds an `exclusive` lock, no other can hold the
   * lock.
   */
  mode: 'exclusive' | 'shared';
  record: Pick<LockHolder, 'command'> & Partial<Pick<LockHolder, 'startedAt' | 'baseUrl'>>;
}

/** `readLockHolder` briefly holds the lock that it reads, so `acquireLock` retries. */
const TRIES = 8;
const BETWEEN_TRIES_MS = 25;

/**
 * Acquires a kernel lock: an open transaction on an SQLite file. The system releases the lock however the process ends.
 * A record names the holder: `PATH.json` for an exclusive lock, `PATH.ID.json` for a shared one.
 *
 * @throws IDKIT_LOCKED with the holder; IDKIT_DIRECTORY_NOT_WRITABLE; IDKIT_NO_SPACE
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
  const file = options.mode === 'exclusive' ? recordFile(path) : sharedRecordFile(path, owner);
  try {
    await removeStaleRecords(path, options.mode);
    await writeRecord(file, { ...holder, owner });
  } catch (cause) {
    database.close();
    throw lockFault(path, cause);
  }
  let released = false;
  return {
    note: (more) => writeRecord(file, { ...holder, ...more, owner }),
    release: async () => {
      if (released) return;
      released = true;
      try {
        if ((await readRecord(file))?.owner === owner) await rm(file, { force: true });
      } finally {
        database.close();
      }
    },
  };
}

/**
 * Returns the process that holds an exclusive lock, or undefined if there is none. Ignores the record of a killed
 * process.
 */
export async function readLockHolder(path: string): Promise<LockHolder | undefined> {
  if (!existsSync(path)) return undefined;
  const free = tryTake(path, 'shared', true);
  if (free !== undefined) {
    free.close();
    return undefined;
  }
  return (
    holderOf(await readRecord(recordFile(path))) ?? {
      pid: 0,
      host: hostname(),
      command: 'unknown',
      startedAt: '',
    }
  );
}

async function take(path: string, mode: LockOptions['mode']): Promise<DatabaseSync> {
  for (let left = TRIES; left > 0; left--) {
    const database = tryTake(path, mode, false);
    if (database !== undefined) return database;
    if (left > 1) await pause(BETWEEN_TRIES_MS);
  }
  const holders = (await findHolders(path)).map(
    ({ command, pid, host, startedAt }) => `${command}, process ${pid} on ${host} since ${startedAt}`,
  );
  const named = holders.length === 0 ? 'another process' : holders.join(' and by ');
  throw new IdkitError('IDKIT_LOCKED', `${path} is held by ${named}`, {
    hints: ['wait until the process has ended, or end it, then try again'],
  });
}

/** Returns a connection that holds the lock, or undefined if another process holds the lock. */
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
    throw lockFault(path, error);
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  return (code & 0xff) === 5;
}

/** Returns the error for a failed write. `writeFault` does not know the error codes of SQLite. */
function lockFault(path: string, error: unknown): IdkitError {
  const fault = writeFault(`the lock ${path}`, error);
  if (fault instanceof IdkitError) return fault;
  return new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `the lock ${path} cannot be written`, {
    cause: error,
  });
}
