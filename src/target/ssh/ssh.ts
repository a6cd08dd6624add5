import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { Readable } from 'node:stream';
import { IdkitError } from '../../core/index.ts';
import { checkSize } from '../check-size.ts';
import type { PutOptions, Target, TargetFile } from '../contract.ts';
import { hostile, TargetFileFault, unreachable } from '../faults.ts';
import type { TargetLocation } from '../location.ts';
import {
  checkListed,
  checkName,
  compareNames,
  draftName,
  isDraft,
  isPlainName,
  MOST_FILES,
} from '../names.ts';
import type { OpenTargetOptions } from '../open.ts';
import { connectSftp, type SftpConnection } from './connection.ts';
import { STATUS } from './packet.ts';
import { createSftp, type Sftp, SftpStatus } from './sftp.ts';

const STALL_MILLISECONDS = 60_000;
/** Size in bytes of a block, and the number of blocks that are under way. Every server accepts blocks of 32 KiB. */
const BLOCK_BYTES = 32 * 1024;
const PARALLEL_BLOCKS = 64;
const MOST_DEPTH = 12;

interface Session {
  sftp: Sftp;
  connection: SftpConnection;
}

/** What the functions of this file need of an open target. */
interface Place {
  label: string;
  root: string;
  connect(signal?: AbortSignal): Promise<Sftp>;
}

/**
 * Opens a directory of another machine. All calls share one ssh process, which the first call starts, and which is
 * started again if it ended. Other users there may be able to write to the directory, so no link below it is followed.
 */
export function openSshTarget(
  place: Extract<TargetLocation, { kind: 'ssh' }>,
  options: OpenTargetOptions,
): Target {
  const label = renderPlace(place);
  let session: Promise<Session> | undefined;
  let closed = false;
  const open = async (signal?: AbortSignal): Promise<Session> => {
    const connection = await connectSftp(place, {
      label,
      stallMilliseconds: options.stallMilliseconds ?? STALL_MILLISECONDS,
      env: options.env ?? process.env,
      signal: signal ?? options.signal,
    });
    return { connection, sftp: createSftp(connection, label) };
  };
  const connect = async (signal?: AbortSignal): Promise<Sftp> => {
    if (closed) throw unreachable(label, 'the connection is closed');
    const current = await session?.catch(() => undefined);
    if (current === undefined || current.connection.isClosed) session = open(signal);
    const [sure] = await Promise.all([session as Promise<Session>]);
    return sure.sftp;
  };
  const target: Place = { label, root: place.path, connect };
  const guarded = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw explain(label, name, error);
    }
  };
  return {
    label,
    async *list(prefix, signal) {
      try {
        const state = { count: { files: 0 }, signal, wanted: 'files' } as const;
        yield* walk(target, await connect(signal), '', prefix, state);
      } catch (error) {
        throw explain(label, prefix, error);
      }
    },
    read: (name, range, signal) => guarded(name, () => readFile(target, name, range, signal)),
    size: (name, signal) =>
      guarded(name, async () => {
        const sftp = await connect(signal);
        return (await findFile(target, sftp, name))?.size;
      }),
    put: (name, content, given) => guarded(name, () => putFile(target, name, content, given ?? {})),
    remove: (name, signal) => guarded(name, async () => removeFile(target, await connect(signal), name)),
    removeDrafts: (before, signal) =>
      guarded('', async () => {
        const sftp = await connect(signal);
        const state = { count: { files: 0 }, signal, wanted: 'drafts' } as const;
        for await (const { name, modifiedAt = before } of walk(target, sftp, '', '', state))
          if (modifiedAt < before) await removeFile(target, sftp, name);
      }),
    async close() {
      closed = true;
      const current = await session?.catch(() => undefined);
      await current?.connection.close();
    },
  };
}

function renderPlace({ user, host, port, path }: Extract<TargetLocation, { kind: 'ssh' }>): string {
  const name = `${user === undefined ? '' : `${user}@`}${host.includes(':') ? `[${host}]` : host}`;
  return port === undefined
    ? `${name}:${path}`
    : `ssh://${name}:${port}${path.startsWith('/') ? '' : '/~/'}${path}`;
}

function pathOf({ root }: Place, name: string): string {
  return name === '' || name === '.' ? root : `${root.replace(/\/$/, '')}/${name}`;
}

async function* walk(
  place: Place,
  sftp: Sftp,
  below: string,
  prefix: string,
  state: { count: { files: number }; signal: AbortSignal | undefined; wanted: 'files' | 'drafts' },
): AsyncGenerator<TargetFile & { modifiedAt?: number }> {
  if (below.split('/').length > MOST_DEPTH)
    throw hostile(place.label, 'its directories are nested too deeply');
  const entries = (await sftp.entries(pathOf(place, below.replace(/\/$/, '')), MOST_FILES))
    .filter(({ name, kind }) => name !== '.' && name !== '..' && kind !== 'other')
    .map((entry) => ({ ...entry, key: `${below}${entry.name}${entry.kind === 'directory' ? '/' : ''}` }))
    .toSorted((one, other) => compareNames(one.key, other.key));
  let last: string | undefined;
  for (const { key, kind, size, name, modifiedAt } of entries) {
    state.signal?.throwIfAborted();
    if (name.includes('/') || name.includes('\0')) checkListed(place.label, `${name}/`);
    if (key === last) throw hostile(place.label, 'the sftp server lists a name twice');
    last = key;
    // Directories count too, so that a listing without files ends.
    state.count.files += 1;
    if (state.count.files > MOST_FILES) throw hostile(place.label, `it has more than ${MOST_FILES} files`);
    if (!isPlainName(key.replace(/\/$/, ''))) continue;
    if (kind === 'directory') {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* walk(place, sftp, key, prefix, state);
    } else if (key.startsWith(prefix) && isDraft(key) === (state.wanted === 'drafts'))
      yield { name: key, size, ...(modifiedAt === undefined ? {} : { modifiedAt }) };
  }
}

/** Finds a regular file. @throws IDKIT_DAMAGED if a link or another kind of file is part of the path */
async function findFile(place: Place, sftp: Sftp, name: string): Promise<{ size: number } | undefined> {
  checkName(name);
  if (!(await isReached(place, sftp, dirname(name)))) return undefined;
  const entry = await sftp.find(pathOf(place, name));
  if (entry === undefined) return undefined;
  if (entry.kind !== 'file') throw hostile(place.label, `${name} is not a regular file`);
  return { size: entry.size };
}

/** Reports whether every directory on the way exists. */
async function isReached(place: Place, sftp: Sftp, below: string): Promise<boolean> {
  const parts = below === '.' ? [] : below.split('/');
  for (const [index] of parts.entries()) {
    const path = parts.slice(0, index + 1).join('/');
    const entry = await sftp.find(pathOf(place, path));
    if (entry === undefined) return false;
    if (entry.kind !== 'directory') throw hostile(place.label, `${path} is reached through a link or file`);
  }
  return true;
}

async function readFile(
  place: Place,
  name: string,
  range: { start: number; length: number } | undefined,
  signal: AbortSignal | undefined,
): Promise<Readable> {
  const sftp = await place.connect(signal);
  const found = await findFile(place, sftp, name);
  if (found === undefined) throw new TargetFileFault('TARGET_FILE_MISSING', place.label, name);
  const start = Math.min(range?.start ?? 0, found.size);
  const end = range === undefined ? found.size : Math.min(start + range.length, found.size);
  const handle = await sftp.openForReading(pathOf(place, name));
  return Readable.from(readBlocks(place, sftp, { name, handle, start, end, signal }), { objectMode: false });
}

/** Requests many blocks in parallel and yields them in order. A block may be shorter than requested. */
async function* readBlocks(
  place: Place,
  sftp: Sftp,
  file: { name: string; handle: Buffer; start: number; end: number; signal: AbortSignal | undefined },
): AsyncGenerator<Buffer> {
  const { name, handle, end, signal } = file;
  const wanted: { at: number; bytes: Promise<Buffer | undefined> }[] = [];
  let next = file.start;
  const askMore = () => {
    for (; next < end && wanted.length < PARALLEL_BLOCKS; next += BLOCK_BYTES) {
      const bytes = sftp.read(handle, next, Math.min(BLOCK_BYTES, end - next));
      bytes.catch(() => {});
      wanted.push({ at: next, bytes });
    }
  };
  try {
    for (askMore(); wanted.length > 0; askMore()) {
      signal?.throwIfAborted();
      const { at, bytes } = wanted.shift() as (typeof wanted)[number];
      let block = await bytes;
      const wantedEnd = Math.min(at + BLOCK_BYTES, end);
      for (let done = at; done < wantedEnd; ) {
        if (block === undefined || block.length === 0)
          throw unreachable(place.label, `${name} ended after ${done} bytes`);
        yield block;
        done += block.length;
        if (done < wantedEnd) block = await sftp.read(handle, done, wantedEnd - done);
      }
    }
  } catch (error) {
    throw explain(place.label, name, error);
  } finally {
    await sftp.close(handle).catch(() => {});
  }
}

async function putFile(
  place: Place,
  name: string,
  content: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<void> {
  const sftp = await place.connect(options.signal);
  if ((await findFile(place, sftp, name)) !== undefined && options.onlyNew === true)
    throw new TargetFileFault('TARGET_FILE_EXISTS', place.label, name);
  const draft = pathOf(place, draftName(name, randomBytes(8).toString('hex')));
  await makeDirectories(place, sftp, dirname(name));
  const handle = await sftp.createFile(draft);
  try {
    try {
      const bytes = await writeBlocks(sftp, handle, content, options.signal);
      checkSize(place.label, name, bytes, options.size);
      await sftp.sync(handle);
    } finally {
      await sftp.close(handle).catch(() => {});
    }
    options.signal?.throwIfAborted();
    await publish(place, sftp, draft, name, options.onlyNew === true);
  } catch (error) {
    const free =
      error instanceof SftpStatus ? await sftp.freeBytes(place.root).catch(() => undefined) : undefined;
    await sftp.removeFile(draft).catch(() => {});
    // sftp has no status for a full disk.
    if (free !== undefined && free < 1024 * 1024)
      throw new IdkitError(
        'IDKIT_NO_SPACE',
        `${place.label}: no space left on the disk there to write ${name}`,
        { cause: error },
      );
    throw error;
  }
}

async function writeBlocks(
  sftp: Sftp,
  handle: Buffer,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const running = new Set<Promise<void>>();
  let fault: { error: unknown } | undefined;
  let at = 0;
  try {
    for await (const chunk of content) {
      for (let from = 0; from < chunk.length; from += BLOCK_BYTES) {
        signal?.throwIfAborted();
        while (running.size >= PARALLEL_BLOCKS) await Promise.race(running);
        if (fault !== undefined) throw fault.error;
        const block = chunk.subarray(from, from + BLOCK_BYTES);
        const sent: Promise<void> = sftp
          .write(handle, at, block)
          .catch((error: unknown) => {
            fault ??= { error };
          })
          .finally(() => running.delete(sent));
        running.add(sent);
        at += block.length;
      }
    }
  } finally {
    await Promise.all(running);
  }
  if (fault !== undefined) throw fault.error;
  return at;
}

/** A plain rename of sftp fails if the name exists. The one of OpenSSH replaces the file. */
async function publish(
  place: Place,
  sftp: Sftp,
  draft: string,
  name: string,
  onlyNew: boolean,
): Promise<void> {
  if (!onlyNew) return sftp.replace(draft, pathOf(place, name));
  try {
    await sftp.rename(draft, pathOf(place, name));
  } catch (error) {
    if (error instanceof SftpStatus && (await sftp.find(pathOf(place, name))) !== undefined)
      throw new TargetFileFault('TARGET_FILE_EXISTS', place.label, name, error);
    throw error;
  }
}

async function makeDirectories(place: Place, sftp: Sftp, below: string): Promise<void> {
  await makeRoot(place, sftp);
  const parts = below === '.' ? [] : below.split('/');
  for (const [index] of parts.entries()) {
    const path = parts.slice(0, index + 1).join('/');
    const entry = await sftp.find(pathOf(place, path));
    if (entry === undefined) await makeDirectory(sftp, pathOf(place, path));
    else if (entry.kind !== 'directory')
      throw hostile(place.label, `${path} is reached through a link or file`);
  }
}

/** Creates the directory of the target with its parents. It may be a link. */
async function makeRoot({ root }: Place, sftp: Sftp): Promise<void> {
  if (root === '.' || (await sftp.find(root)) !== undefined) return;
  const parts = root.split('/');
  for (const [index, part] of parts.entries()) {
    const path = parts.slice(0, index + 1).join('/');
    if (part !== '' && (await sftp.find(path)) === undefined) await makeDirectory(sftp, path);
  }
}

/** A parallel call may have created the directory. */
async function makeDirectory(sftp: Sftp, path: string): Promise<void> {
  try {
    await sftp.makeDirectory(path);
  } catch (error) {
    if (!(error instanceof SftpStatus) || (await sftp.find(path))?.kind !== 'directory') throw error;
  }
}

async function removeFile(place: Place, sftp: Sftp, name: string): Promise<void> {
  if ((await findFile(place, sftp, name)) === undefined) return;
  await sftp.removeFile(pathOf(place, name));
  try {
    for (let below = dirname(name); below !== '.'; below = dirname(below))
      await sftp.removeDirectory(pathOf(place, below));
  } catch (error) {
    // The directory is not empty.
    if (!(error instanceof SftpStatus)) throw error;
  }
}

function explain(label: string, name: string, error: unknown): unknown {
  if (!(error instanceof SftpStatus)) return error;
  if (error.status === STATUS.noSuchFile)
    return new TargetFileFault('TARGET_FILE_MISSING', label, name, error);
  const denied = error.status === STATUS.permissionDenied;
  return new IdkitError(
    denied ? 'IDKIT_CREDENTIALS' : 'IDKIT_FAILED',
    `${label}: ${name === '' ? 'the directory' : name} is refused there: ${error.message}`,
    { cause: error },
  );
}
