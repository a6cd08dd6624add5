import { lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IdkitError, systemErrorCode } from '../core/index.ts';

/** Writes a file (mode 0600) so that after a crash it is either the old one or the new one, whole. */
export async function writeDurably(file: string, content: string | Uint8Array): Promise<void> {
  const draft = join(dirname(file), `.${process.pid}-${performance.now()}.new`);
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw explainWriteFault(error, file);
  }
  await syncDirectory(dirname(file));
}

/** Makes renames and removals in a directory outlast a crash. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What lies at a path itself, without following a link; undefined where nothing does. */
export async function findEntry(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The operator's error for a write that failed: IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE, or as it was. */
export function explainWriteFault(error: unknown, path: string): unknown {
  if (error instanceof IdkitError) return error;
  switch (systemErrorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new IdkitError('IDKIT_NO_SPACE', `no room on the disk to write ${path}`, { cause: error });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `${path} cannot be written`, { cause: error });
    case 'EEXIST':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ELOOP':
      return new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `something else is in the way of ${path}`, {
        cause: error,
      });
    default:
      return error;
  }
}
