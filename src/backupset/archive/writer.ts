import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import type { ArchiveReport, ArchiveSource, LeftOut, WorkOptions } from '../contract.ts';
import { createGzipWriter } from '../gzip/writer.ts';
import { ARCHIVE_MAX_BYTES, ARCHIVE_MAX_ENTRIES } from './rules.ts';
import { padding, renderTarHeader, TAR_END } from './tar-header.ts';
import { type SourceEntry, walkSource } from './walk.ts';

/**
 * Maximum size in bytes of a file that is read as a whole before its header is written. If such a file changes while it
 * is being read, it is read again.
 */
const WHOLE_BYTES = 4 * 1024 * 1024;
const READ_ATTEMPTS = 3;
const TAR_HEADER_BYTES = 512;
const CHUNK_BYTES = 256 * 1024;

/**
 * Writes `config.tar.gz` to the sink. The archive is ustar with pax headers, sorted and owned by 0:0, so that equal
 * content and times result in equal bytes. Hard links are stored as copies. The report lists the files that were not
 * archived. A file that changes while it is being read does not damage the others.
 *
 * @throws IDKIT_FAILED if the archive would exceed the limits of a set, and any error of the sink
 */
export async function writeConfigArchive(
  source: ArchiveSource,
  sink: (chunk: Uint8Array) => Promise<void>,
  options: WorkOptions = {},
): Promise<ArchiveReport> {
  const { entries, leftOut } = await walkSource(source);
  checkSize(entries);
  const gzip = createGzipWriter(sink, options.signal === undefined ? {} : { signal: options.signal });
  const total = sizeOf(entries);
  const out = new TarOutput((chunk) => gzip.write(chunk), leftOut, {
    ...options,
    onProgress: (done) => options.onProgress?.(done, Math.max(done, total)),
  });
  try {
    for (const entry of entries) await out.add(entry);
    await out.end();
    await gzip.end();
  } finally {
    await gzip.abort();
  }
  return { entries: out.entries, bytes: out.bytes, leftOut };
}

function checkSize(entries: readonly SourceEntry[]): void {
  const bytes = entries.reduce((sum, one) => sum + (one.type === 'file' ? one.stats.size : 0), 0);
  if (bytes > ARCHIVE_MAX_BYTES || entries.length > ARCHIVE_MAX_ENTRIES)
    throw new IdkitError(
      'IDKIT_FAILED',
      `the configuration directory holds ${entries.length} entries and ${bytes} bytes, but a backup set can hold at most ${ARCHIVE_MAX_ENTRIES} entries and ${ARCHIVE_MAX_BYTES} bytes`,
      { hints: ['move files that are not configuration out of config/'] },
    );
}

/** Returns the size in bytes of the archive before compression, without the rare headers of long names. */
function sizeOf(entries: readonly SourceEntry[]): number {
  const content = entries.map(({ type, stats }) => (type === 'file' ? stats.size + padding(stats.size) : 0));
  return content.reduce((sum, bytes) => sum + TAR_HEADER_BYTES + bytes, TAR_END.length);
}

class TarOutput {
  readonly #write: (chunk: Uint8Array) => Promise<void>;
  readonly #leftOut: LeftOut[];
  readonly #options: WorkOptions;
  entries = 0;
  bytes = 0;

  constructor(write: (chunk: Uint8Array) => Promise<void>, leftOut: LeftOut[], options: WorkOptions) {
    this.#write = write;
    this.#leftOut = leftOut;
    this.#options = options;
  }

  async add(one: SourceEntry): Promise<void> {
    this.#options.signal?.throwIfAborted();
    if (one.type === 'file') await this.#addFile(one);
    else await this.#header(one, 0);
  }

  async end(): Promise<void> {
    await this.#put(TAR_END);
  }

  async #put(chunk: Uint8Array): Promise<void> {
    this.bytes += chunk.length;
    await this.#write(chunk);
    this.#options.onProgress?.(this.bytes);
  }

  async #header(one: SourceEntry, size: number): Promise<void> {
    this.entries++;
    await this.#put(
      renderTarHeader({
        path: one.type === 'directory' ? `${one.path}/` : one.path,
        type: one.type === 'file' ? '0' : one.type === 'directory' ? '5' : '2',
        mode: one.type === 'link' ? 0o777 : one.stats.mode & 0o777,
        size,
        mtime: Math.floor(one.stats.mtimeMs / 1000),
        target: one.target ?? '',
      }),
    );
  }

  async #addFile(one: SourceEntry): Promise<void> {
    const handle = await this.#open(one);
    if (handle === undefined) return;
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) this.#report(one, 'changed while read');
      else if (stats.size > WHOLE_BYTES) await this.#addStreamed(one, handle, stats.size);
      else await this.#addWhole({ ...one, stats }, handle);
    } finally {
      await handle.close();
    }
  }

  async #addWhole(one: SourceEntry, handle: FileHandle): Promise<void> {
    let read = await readSteady(handle);
    for (let attempt = 1; !read.steady && attempt < READ_ATTEMPTS; attempt++) read = await readSteady(handle);
    if (!read.steady) this.#report(one, 'changed while read');
    await this.#header(one, read.content.length);
    await this.#put(read.content);
    await this.#put(Buffer.alloc(padding(read.content.length)));
  }

  /**
   * Writes the header and exactly `size` bytes. A file that shrinks is padded with zeros, and one that grows is
   * truncated.
   */
  async #addStreamed(one: SourceEntry, handle: FileHandle, size: number): Promise<void> {
    const before = await handle.stat();
    await this.#header({ ...one, stats: before }, size);
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let done = 0;
    while (done < size) {
      this.#options.signal?.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - done), done);
      if (bytesRead === 0) break;
      await this.#put(buffer.subarray(0, bytesRead));
      done += bytesRead;
    }
    for (buffer.fill(0); done < size; ) {
      const part = buffer.subarray(0, Math.min(buffer.length, size - done));
      await this.#put(part);
      done += part.length;
    }
    await this.#put(Buffer.alloc(padding(size)));
    const later = await handle.stat();
    if (later.size !== size || later.mtimeMs !== before.mtimeMs) this.#report(one, 'changed while read');
  }

  /** Opens a file without following a link and without waiting for a FIFO that has replaced the file. */
  async #open(one: SourceEntry): Promise<FileHandle | undefined> {
    const isTopFile = !one.path.startsWith('config/');
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (isTopFile ? 0 : constants.O_NOFOLLOW);
    try {
      return await open(one.file, flags);
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === 'EACCES' || code === 'EPERM') this.#report(one, 'unreadable');
      else if (code === 'ENOENT' || code === 'ENOTDIR') this.#report(one, 'vanished while read');
      else if (code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR')
        this.#report(one, 'changed while read');
      else throw error;
      return undefined;
    }
  }

  #report(one: SourceEntry, why: LeftOut['why']): void {
    this.#leftOut.push({ path: one.path.replace(/^config\//, ''), why });
  }
}

/** Reads a file's content. `steady` is true if the file did not change in the meantime. */
async function readSteady(handle: FileHandle): Promise<{ content: Buffer; steady: boolean }> {
  const before = await handle.stat();
  const content = Buffer.alloc(Math.min(before.size, WHOLE_BYTES));
  let length = 0;
  while (length < content.length) {
    const { bytesRead } = await handle.read(content, length, content.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const later = await handle.stat();
  const steady = length === before.size && later.size === before.size && later.mtimeMs === before.mtimeMs;
  return { content: content.subarray(0, length), steady };
}
