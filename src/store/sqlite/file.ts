import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { writeFault } from '../../files/index.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { checkMasterKeys, type MasterKeyState } from '../sealing/proofs.ts';
import { mapFault } from './faults.ts';
import { checkKind } from './schema-state.ts';

/** Maximum size in bytes of a file that is checked completely at every start. */
const CHECKED_BYTES = 16 * 1024 * 1024;

/**
 * Reports whether the database has a write-ahead log. If so, a process has the file open, or ended without closing it.
 */
export function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`);
}

/**
 * Returns the location to open for reading. In a read-only directory, a file without a log is opened as immutable,
 * because SQLite could not create the log there.
 */
export function readLocation(file: string): string {
  if (hasLog(file) || canWrite(dirname(file))) return file;
  return immutable(file);
}

function immutable(file: string): string {
  return `${pathToFileURL(file).href}?immutable=1`;
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks an existing database without changing anything on the disk.
 *
 * @throws IDKIT_VERSION, IDKIT_DATABASE_DAMAGED, IDKIT_MASTER_KEY_WRONG, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export function inspectFile(file: string, keyring: Keyring): MasterKeyState {
  let database: DatabaseSync | undefined;
  try {
    checkLength(file);
    // Without a log, no process is writing. `immutable` then prevents SQLite from creating a log for this check.
    database = new DatabaseSync(hasLog(file) ? file : immutable(file), { readOnly: true, timeout: 5000 });
    checkKind(database, file);
    if (statSync(file).size <= CHECKED_BYTES) quickCheck(database, file);
    return checkMasterKeys(database, keyring);
  } catch (error) {
    throw mapFault(error, file);
  } finally {
    if (database?.isOpen) database.close();
  }
}

/**
 * Rejects a truncated file: one that is shorter than its header states (https://www.sqlite.org/fileformat.html §1.3).
 */
function checkLength(file: string): void {
  const { size } = statSync(file);
  if (size === 0) return;
  if (hasLog(file)) return;
  const head = readHead(file);
  const stored = head.readUInt16BE(16);
  const pageSize = stored === 1 ? 65_536 : stored;
  const valid = head.toString('latin1', 0, 16) === 'SQLite format 3\0' && size >= 512;
  if (!valid || head.readUInt32BE(28) * pageSize > size)
    throw new IdkitError('IDKIT_DATABASE_DAMAGED', `${file} is truncated or is not a database`);
}

function readHead(file: string): Buffer {
  const head = Buffer.alloc(100);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, head, 0, 100, 0);
  } finally {
    closeSync(handle);
  }
  return head;
}

/**
 * Checks the structure of the whole database.
 *
 * @throws IDKIT_DATABASE_DAMAGED with the first defect
 */
export function quickCheck(database: DatabaseSync, file: string): void {
  const result = database.prepare('PRAGMA quick_check(1)').get();
  const verdict = String(Object.values(result ?? {})[0]);
  if (verdict !== 'ok')
    throw new IdkitError('IDKIT_DATABASE_DAMAGED', `${file} is damaged: ${verdict}`, {
      hints: ['restore a backup: idkit restore --from DIR'],
    });
}

/**
 * Creates an empty file that only its owner can read. Leaves an existing file unchanged.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function createFile(file: string): Promise<void> {
  try {
    await (await open(file, 'ax', 0o600)).close();
  } catch (cause) {
    if (systemErrorCode(cause) !== 'EEXIST') throw writeFault(file, cause);
  }
}

/** @throws IDKIT_DIRECTORY_NOT_WRITABLE if the file or its directory is not writable */
export function checkWritable(file: string): void {
  for (const path of [file, dirname(file)])
    if (!canWrite(path))
      throw new IdkitError(
        'IDKIT_DIRECTORY_NOT_WRITABLE',
        `the database is not writable: ${path} is read-only`,
      );
}

/** Reports whether a database exists at the path. An empty file does not count. */
export function hasDatabase(file: string): boolean {
  return existsSync(file) && (statSync(file).size > 0 || hasLog(file));
}

/**
 * Removes the empty log that a read-only connection had to create. SQLite itself removes the log when a connection that
 * can write closes, so this function opens and closes such a connection.
 */
export function tidyLog(file: string): void {
  if (!hasLog(file) || statSync(`${file}-wal`).size > 0 || !canWrite(file)) return;
  try {
    const database = new DatabaseSync(file, { timeout: 0 });
    database.prepare('PRAGMA user_version').get();
    database.close();
  } catch {
    // Another process has the file open and uses the log.
  }
}
