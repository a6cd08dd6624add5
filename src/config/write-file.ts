import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { IdkitError, systemErrorCode } from '../core/index.ts';

/**
 * Writes a file that must not exist yet: the whole text appears under its name at once, and a file that is there
 * already stays as it is. Synced to disk.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export function createFile(file: string, text: string, mode: number): 'created' | 'kept' {
  const draft = writeDraft(file, text, mode);
  try {
    linkSync(draft, file);
    syncDirectory(dirname(file));
    return 'created';
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return 'kept';
    throw notWritable(file, error);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Replaces a file as a whole by one rename: a reader sees the old text or the new one. Synced to disk.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export function replaceFile(file: string, text: string, mode: number): void {
  const draft = writeDraft(file, text, mode);
  try {
    renameSync(draft, file);
    syncDirectory(dirname(file));
  } catch (error) {
    rmSync(draft, { force: true });
    throw notWritable(file, error);
  }
}

/** A fault of writing as an operator must hear it. */
export function notWritable(path: string, error: unknown): IdkitError {
  const full = ['ENOSPC', 'EDQUOT'].includes(systemErrorCode(error) ?? '');
  return new IdkitError(
    full ? 'IDKIT_NO_SPACE' : 'IDKIT_DIRECTORY_NOT_WRITABLE',
    full ? `no room on the disk for ${path}` : `${path} cannot be written: ${(error as Error).message}`,
    { cause: error },
  );
}

function writeDraft(file: string, text: string, mode: number): string {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.partial`);
  try {
    const handle = openSync(draft, 'wx', mode);
    try {
      writeSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw notWritable(file, error);
  }
}

function syncDirectory(dir: string): void {
  const handle = openSync(dir, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
