import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../core/index.ts';
import { isMissing, writeFault } from './system-errors.ts';

// The functions of this file block until the data is on the disk. Use them only for small files such as settings,
// journals and reports.

/** The default mode. Only the owner can read and write the file. */
const OWNER_ONLY = 0o600;

/**
 * Creates or replaces a file as a whole. A reader sees either the old or the new content, even after a crash.
 *
 * @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE; the old content remains
 */
export function replaceFile(file: string, content: string | Uint8Array, mode = OWNER_ONLY): void {
  publish(file, content, mode, (draft) => renameSync(draft, file));
}

/**
 * Creates a file with its complete content. A reader never sees a part of it. Leaves an existing file unchanged.
 *
 * @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export function createFile(
  file: string,
  content: string | Uint8Array,
  mode = OWNER_ONLY,
): 'created' | 'kept' {
  let outcome: 'created' | 'kept' = 'created';
  publish(file, content, mode, (draft) => {
    try {
      linkSync(draft, file);
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error;
      outcome = 'kept';
    }
  });
  return outcome;
}

function publish(
  file: string,
  content: string | Uint8Array,
  mode: number,
  put: (draft: string) => void,
): void {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.partial`);
  try {
    writeDraft(draft, content, mode);
    put(draft);
    syncDirectory(dirname(file));
  } catch (error) {
    throw writeFault(file, error);
  } finally {
    if (findEntry(draft) !== undefined) rmSync(draft);
  }
}

function writeDraft(draft: string, content: string | Uint8Array, mode: number): void {
  const descriptor = openSync(draft, 'wx', mode);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a directory, so that created, renamed and removed entries survive a crash. */
export function syncDirectory(dir: string): void {
  syncFile(dir);
}

/** Flushes the cached data of a file to the disk. */
export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the directory entry at a path, or undefined if the path does not exist. Does not follow links. */
export function findEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
