import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../core/index.ts';
import { findEntry } from './durable.ts';
import { writing } from './system-errors.ts';

/**
 * Creates a private temporary directory whose name contains the id of this process. First removes the directories with the
 * same prefix of processes that were killed, because they can contain password hashes.
 *
 * @param prefix ends with a hyphen, for example `idkit-diff-`
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function makeTemporaryDirectory(prefix: string): Promise<string> {
  const parent = tmpdir();
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid === undefined || !hasEnded(Number(pid))) continue;
    const path = join(parent, name);
    const entry = findEntry(path);
    if (entry?.isDirectory() === true && entry.uid === process.getuid?.())
      await rm(path, { recursive: true, force: true });
  }
  return writing(parent, () => mkdtemp(join(parent, `${prefix}${process.pid}-`)));
}

/** Returns whether no process on this machine has the id. Processes of other users count too. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemErrorCode(error) === 'ESRCH';
  }
}
