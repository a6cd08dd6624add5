import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, mkdir, open, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import { syncDirectory, writeFault } from '../../files/index.ts';
import type { ArchiveEntry, SetHandle, WorkOptions } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

import { gunzip } from '../gzip/gunzip.ts';
import { type EntrySink, readArchive } from './reader.ts';
import { badArchive, type CheckedEntry } from './rules.ts';

/**
 * Reads a set's configuration archive to its end, checks it against every rule and returns its entries.
 *
 * @throws IDKIT_DAMAGED
 */
export async function listConfigArchive(
  set: SetHandle,
  options: WorkOptions = {},
): Promise<readonly ArchiveEntry[]> {
  return readArchive(gunzip(set.stream(SET_FILES.config, options), SET_FILES.config));
}

/**
 * Reads a file that is next to `config/` in a set's archive. Returns undefined if the archive does not contain it.
 *
 * @throws IDKIT_DAMAGED, including for a file that is longer than `maxBytes`
 */
export async function readConfigFile(
  set: SetHandle,
  name: 'idkit.yaml' | 'compose.yaml',
  maxBytes: number,
  options: WorkOptions = {},
): Promise<Buffer | undefined> {
  const read = (onEntry?: (entry: CheckedEntry) => Promise<EntrySink | undefined>) =>
    readArchive(gunzip(set.stream(SET_FILES.config, options), SET_FILES.config), onEntry);
  const entries = new Map((await read()).map((entry) => [entry.path, entry]));
  let wanted = entries.get(name);
  if (wanted === undefined) return undefined;
  if (wanted.size > maxBytes) throw badArchive(`${name} is longer than ${maxBytes} bytes`);
  // A hard link has no bytes of its own. The rules ensure that it points to an earlier file.
  while (wanted?.copyOf !== undefined) wanted = entries.get(wanted.copyOf);
  const chunks: Buffer[] = [];
  const sink: EntrySink = {
    write: async (chunk) => void chunks.push(Buffer.from(chunk)),
    close: async () => undefined,
  };
  await read(async ({ path }) => (path === wanted?.path ? sink : undefined));
  return Buffer.concat(chunks);
}

/**
 * Unpacks a set's archive into `dir`, which must not exist yet, and syncs it to disk. The whole archive is checked
 * before anything is written, and again during the extraction. Links are created last, so that no file is written
 * through one. If the call fails, it removes `dir`.
 *
 * @throws IDKIT_DAMAGED, IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE
 */
export async function extractConfigArchive(
  set: SetHandle,
  dir: string,
  options: WorkOptions = {},
): Promise<readonly ArchiveEntry[]> {
  await listConfigArchive(set, options);
  let made = false;
  try {
    await mkdir(dir, { mode: 0o700 });
    made = true;
    const source = gunzip(set.stream(SET_FILES.config, options), SET_FILES.config);
    const entries = await readArchive(source, (entry) => place(dir, entry));
    for (const entry of entries)
      if (entry.target !== undefined) await symlink(entry.target, join(dir, entry.path));
    await settleDirectories(dir, entries);
    return entries;
  } catch (error) {
    if (made) await rm(dir, { recursive: true, force: true });
    throw systemErrorCode(error) === undefined ? error : writeFault(dir, error);
  }
}

async function place(dir: string, entry: CheckedEntry): Promise<EntrySink | undefined> {
  const path = join(dir, entry.path);
  if (entry.type === 'link') {
    await mkdir(dirname(path), { recursive: true });
    return undefined;
  }
  if (entry.type === 'directory') {
    await mkdir(path, { recursive: true, mode: entry.mode | 0o700 });
    return undefined;
  }
  await mkdir(dirname(path), { recursive: true });
  if (entry.copyOf !== undefined) {
    await copyFile(join(dir, entry.copyOf), path, constants.COPYFILE_EXCL);
    return undefined;
  }
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  return fileSink(await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, entry.mode), entry);
}

function fileSink(handle: FileHandle, entry: CheckedEntry): EntrySink {
  return {
    async write(chunk) {
      for (let done = 0; done < chunk.length; ) done += (await handle.write(chunk, done)).bytesWritten;
    },
    async close() {
      try {
        await handle.utimes(time(entry), time(entry));
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  };
}

/**
 * Sets the modes and times of directories. This comes last, because a new entry changes the time of its directory and
 * needs the write bit.
 */
async function settleDirectories(dir: string, entries: readonly CheckedEntry[]): Promise<void> {
  const directories = entries.filter((entry) => entry.type === 'directory').toReversed();
  for (const entry of directories) {
    const path = join(dir, entry.path);
    syncDirectory(path);
    await utimes(path, time(entry), time(entry));
    if ((entry.mode & 0o700) !== 0o700) await chmod(path, entry.mode);
  }
  syncDirectory(dir);
}

/** Converts the entry's time for `utimes`, which would treat a negative number as the current time. */
function time(entry: CheckedEntry): Date {
  return new Date(entry.mtime * 1000);
}
