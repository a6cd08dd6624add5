import { randomBytes } from 'node:crypto';
import { constants, createReadStream, type Dirent } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { errorMessage, IdkitError, systemErrorCode } from '../../core/index.ts';
import { syncDirectory, writeFault } from '../../files/index.ts';
import { checkSize } from '../check-size.ts';
import type { PutOptions, Target, TargetFile } from '../contract.ts';
import { hostile, TargetFileFault } from '../faults.ts';
import { checkName, compareNames, draftName, isDraft, isPlainName } from '../names.ts';

const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;

/**
 * Opens a directory of this machine, which may be a mounted one. Other users may be able to write to it, so no link below
 * it is followed. The directory is created by the first put.
 */
export function openDirectoryTarget(path: string): Target {
  const root = resolve(path);
  return {
    label: root,
    list: (prefix, signal) => listFiles(root, prefix, signal),
    async read(name, range, signal) {
      const handle = await openFile(root, name);
      const end = range === undefined ? {} : { start: range.start, end: range.start + range.length - 1 };
      return createReadStream('', {
        fd: handle,
        highWaterMark: 256 * 1024,
        ...end,
        ...(signal === undefined ? {} : { signal }),
      }) as Readable;
    },
    async size(name) {
      const entry = await findFile(root, name);
      return entry?.size;
    },
    put: (name, content, options) => putFile(root, name, content, options ?? {}),
    remove: (name) => removeFile(root, name),
    async removeDrafts(before, signal) {
      for await (const { name } of walk(root, '', '', signal, 'drafts')) {
        const { mtimeMs } = await lstat(join(root, name)).catch(() => ({ mtimeMs: before }));
        if (mtimeMs < before) await removeFile(root, name);
      }
    },
    async close() {},
  };
}

async function* listFiles(root: string, prefix: string, signal?: AbortSignal): AsyncGenerator<TargetFile> {
  yield* walk(root, '', prefix, signal);
}

/** Walks depth first. Sorting a directory as `name/` makes the order of the whole listing that of the names' bytes. */
async function* walk(
  root: string,
  below: string,
  prefix: string,
  signal?: AbortSignal,
  wanted: 'files' | 'drafts' = 'files',
): AsyncGenerator<TargetFile> {
  const entries = (await readEntries(join(root, below)))
    .map((entry) => ({ entry, key: `${below}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
    .toSorted((one, other) => compareNames(one.key, other.key));
  for (const { entry, key } of entries) {
    signal?.throwIfAborted();
    if (!isPlainName(key.replace(/\/$/, ''))) continue;
    if (entry.isDirectory()) {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* walk(root, key, prefix, signal, wanted);
    } else if (entry.isFile() && key.startsWith(prefix) && isDraft(key) === (wanted === 'drafts')) {
      const size = await sizeOf(join(root, key));
      if (size !== undefined) yield { name: key, size };
    }
  }
}

async function readEntries(dir: string): Promise<Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw readFault(dir, error);
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const entry = await lstat(path);
    return entry.isFile() ? entry.size : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return undefined;
    throw readFault(path, error);
  }
}

async function findFile(root: string, name: string): Promise<{ size: number } | undefined> {
  checkName(name);
  if (!(await isReached(root, dirname(name)))) return undefined;
  const size = await sizeOf(join(root, name));
  return size === undefined ? undefined : { size };
}

/** Reports whether the directory exists. @throws IDKIT_DAMAGED if a link leads to it */
async function isReached(root: string, below: string): Promise<boolean> {
  try {
    const real = await realpath(root);
    const path = join(real, below);
    if ((await realpath(path)) !== path) throw hostile(root, `${below} is reached through a link`);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return false;
    throw readFault(join(root, below), error);
  }
}

async function openFile(root: string, name: string): Promise<FileHandle> {
  checkName(name);
  if (!(await isReached(root, dirname(name)))) throw new TargetFileFault('TARGET_FILE_MISSING', root, name);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const handle = await open(join(root, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') throw new TargetFileFault('TARGET_FILE_MISSING', root, name, error);
    if (code !== 'ELOOP' && code !== 'ENXIO') throw readFault(join(root, name), error);
  }
  throw hostile(root, `${name} is not a regular file`);
}

async function putFile(
  root: string,
  name: string,
  content: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<void> {
  checkName(name);
  const path = join(root, name);
  const draft = join(root, draftName(name, randomBytes(8).toString('hex')));
  try {
    const handle = await createDraft(root, dirname(name), draft);
    try {
      let bytes = 0;
      for await (const chunk of content) {
        options.signal?.throwIfAborted();
        await writeAll(handle, chunk);
        bytes += chunk.length;
      }
      checkSize(root, name, bytes, options.size);
      await handle.sync();
    } finally {
      await handle.close();
    }
    options.signal?.throwIfAborted();
    await publish(draft, path, options.onlyNew === true);
    syncDirectory(dirname(path));
  } catch (error) {
    await rm(draft, { force: true });
    if (systemErrorCode(error) === 'EEXIST' && options.onlyNew === true)
      throw new TargetFileFault('TARGET_FILE_EXISTS', root, name, error);
    throw writeFault(path, error);
  }
}

async function createDraft(root: string, below: string, draft: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeDirectories(root, below);
      return await open(draft, 'wx', OWNER_ONLY_FILE);
    } catch (error) {
      // A parallel remove may have deleted the directory, because it was empty.
      if (systemErrorCode(error) !== 'ENOENT' || attempt === 3) throw error;
    }
  }
}

/**
 * Creates the directories below the root one after the other, so that nothing is created behind a link. Syncs the parent of
 * each new one, so that it survives a power failure.
 */
async function makeDirectories(root: string, below: string): Promise<void> {
  const first = await mkdir(root, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  for (let dir = root; first !== undefined; dir = dirname(dir)) {
    syncDirectory(dirname(dir));
    if (dir === first || dir === dirname(dir)) break;
  }
  let dir = root;
  for (const part of below === '.' ? [] : below.split('/')) {
    const parent = dir;
    dir = join(dir, part);
    try {
      await mkdir(dir, OWNER_ONLY_DIRECTORY);
      syncDirectory(parent);
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error;
      if (!(await lstat(dir)).isDirectory())
        throw hostile(root, `${below} is reached through a link or file`);
    }
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.length; )
    done += (await handle.write(chunk, done, chunk.length - done, null)).bytesWritten;
}

/** A link fails if the name exists, and a rename replaces the file. Both are atomic. */
async function publish(draft: string, path: string, onlyNew: boolean): Promise<void> {
  if (!onlyNew) return rename(draft, path);
  try {
    await link(draft, path);
  } catch (error) {
    // Some network file systems have no links. The window between the two calls is then accepted.
    if (!['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP'].includes(systemErrorCode(error) ?? '')) throw error;
    if ((await sizeOf(path)) !== undefined)
      throw Object.assign(new Error('the file exists', { cause: error }), { code: 'EEXIST' });
    return rename(draft, path);
  }
  await rm(draft);
}

/** Removes a file, then the directories above it that became empty. */
async function removeFile(root: string, name: string): Promise<void> {
  if ((await findFile(root, name)) === undefined) return;
  const path = join(root, name);
  try {
    await rm(path, { force: true });
    syncDirectory(dirname(path));
  } catch (error) {
    throw writeFault(path, error);
  }
  for (let below = dirname(name); below !== '.'; below = dirname(below)) {
    try {
      await rmdir(join(root, below));
    } catch {
      return;
    }
  }
}

function readFault(path: string, error: unknown): unknown {
  const code = systemErrorCode(error);
  if (error instanceof IdkitError || code === undefined || !/^E(?!RR_)/.test(code)) return error;
  return new IdkitError('IDKIT_FAILED', `${path} cannot be read: ${errorMessage(error)}`, { cause: error });
}
