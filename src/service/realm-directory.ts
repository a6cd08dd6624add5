import { constants, existsSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealmDirectory } from '../admin/index.ts';
import { IdkitError, systemErrorCode } from '../core/index.ts';
import type { ServiceLog } from '../http/index.ts';

/** Imported files are moved to this subdirectory. */
const DONE = 'done';

/**
 * Opens the import directory.
 *
 * @param options.remove if true, imported files are removed instead of moved to `done/`
 */
export function openRealmDirectory(
  directory: string,
  log: Pick<ServiceLog, 'info' | 'warn'>,
  { remove }: { remove: boolean },
): RealmDirectory {
  const pathOf = (name: string) => join(directory, name);
  return {
    pathOf,
    async list() {
      const entries: { name: string; isDirectory: boolean }[] = [];
      for (const name of await listNames(directory))
        entries.push({ name, isDirectory: (await lstat(pathOf(name))).isDirectory() });
      return entries;
    },
    async read(name) {
      try {
        return await readRegular(pathOf(name));
      } catch (cause) {
        throw new IdkitError('IDKIT_IMPORT', `${pathOf(name)} cannot be read`, { cause });
      }
    },
    async putAway(name) {
      const file = pathOf(name);
      try {
        if (remove) return await rm(file, { force: true });
        const to = await moveToDone(directory, name);
        log.info({ file, movedTo: to }, 'realm file moved');
      } catch (cause) {
        const code = systemErrorCode(cause);
        // Another replica that shares the directory has already moved the file.
        if (code === 'ENOENT') return;
        if (code === undefined) throw cause;
        log.warn({ file, code }, `${file} was imported and cannot be moved; it holds secrets, so remove it`);
      }
    },
  };
}

/**
 * Returns the names of the directory's visible entries, sorted so that `users-2` comes before `users-10`. Returns an empty
 * list if the directory does not exist.
 */
async function listNames(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => !name.startsWith('.') && name !== DONE)
      .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return [];
    throw new IdkitError('IDKIT_IMPORT', `${directory} cannot be read`, { cause });
  }
}

/**
 * Reads a regular file. Follows links, because the files of a Kubernetes volume are links. Rejects a FIFO, because
 * reading it would block `serve` forever.
 */
async function readRegular(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error('it is not a regular file');
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * Moves an imported file to `done/` and returns its new path. Only the owner may then read the file, because it
 * contains password hashes, client secrets and private keys.
 */
async function moveToDone(directory: string, name: string): Promise<string> {
  const file = join(directory, name);
  const done = join(directory, DONE);
  await mkdir(done, { recursive: true, mode: 0o700 });
  await chmod(file, 0o600);
  const to = join(done, existsSync(join(done, name)) ? `${Date.now()}-${name}` : name);
  await rename(file, to);
  return to;
}
