import { ARCHIVE_MAX_ENTRIES, ArchiveRules, badArchive, type CheckedEntry } from './rules.ts';
import { padding, parsePaxRecords, parseTarHeader, TAR_BLOCK, type TarHeader, utf8 } from './tar-header.ts';

/** Maximum size in bytes of a long name or of one header's pax records. */
const LONGEST_META = 1024 * 1024;
/** Maximum number of zero bytes after the end. GNU tar pads an archive to a multiple of 10 KiB. */
const LONGEST_TAIL = 1024 * 1024;

/** Receives the bytes of one file of the archive. */
export interface EntrySink {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * Walks an archive to its end and checks every entry. `onEntry` is called before the bytes of an entry are read, and
 * the sink that it returns receives them.
 *
 * @throws IDKIT_DAMAGED at the first entry that breaks a rule, and if the two zero blocks at the end are missing
 */
export async function readArchive(
  source: AsyncIterable<Uint8Array>,
  onEntry?: (entry: CheckedEntry) => Promise<EntrySink | undefined>,
): Promise<readonly CheckedEntry[]> {
  const input = new BlockInput(source);
  try {
    const rules = new ArchiveRules();
    const meta = new MetaHeaders();
    let headers = 0;
    for (;;) {
      const block = await input.take(TAR_BLOCK);
      if (isZero(block)) break;
      if (++headers > ARCHIVE_MAX_ENTRIES * 3) throw badArchive('it has too many headers');
      const header = parseTarHeader(block);
      if (header === undefined) throw badArchive('a header has a wrong checksum or field');
      if (MetaHeaders.is(header.type)) {
        if (header.size > LONGEST_META) throw badArchive('a header is too long');
        meta.add(header.type, await input.take(header.size));
        await input.take(padding(header.size));
        continue;
      }
      const full = meta.applyTo(header);
      const entry = rules.check(full);
      const sink = entry === undefined ? undefined : await onEntry?.(entry);
      // Only plain files have bytes. GNU tar writes none for other types, even if they have a size.
      const size = entry?.type === 'file' && entry.copyOf === undefined ? full.size : 0;
      try {
        await input.pass(size, sink);
      } finally {
        await sink?.close();
      }
      await input.take(padding(size));
    }
    if (!isZero(await input.take(TAR_BLOCK))) throw badArchive('it does not end with two empty blocks');
    await checkTail(input);
    return rules.finish();
  } finally {
    await input.close();
  }
}

async function checkTail(input: BlockInput): Promise<void> {
  let tail = 0;
  for await (const chunk of input.remaining()) {
    tail += chunk.length;
    if (tail > LONGEST_TAIL || !isZero(chunk)) throw badArchive('there is data after its end');
  }
}

function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** Headers that describe the entry after them: pax records and GNU's long names. */
class MetaHeaders {
  #path: string | undefined;
  #target: string | undefined;
  #size: number | undefined;
  #mtime: number | undefined;

  static is(type: string): boolean {
    return ['x', 'g', 'L', 'K'].includes(type);
  }

  add(type: string, body: Buffer): void {
    if (type === 'L' || type === 'K') {
      const name = utf8(body.subarray(0, body.indexOf(0) < 0 ? body.length : body.indexOf(0)));
      if (name === undefined || name === '') throw badArchive('a long name is not valid UTF-8');
      if (type === 'L') this.#path = name;
      else this.#target = name;
      return;
    }
    const records = parsePaxRecords(body);
    if (records === undefined) throw badArchive('a pax header is malformed');
    // Accept a global header with a comment, but reject one that sets the same name or size for all entries.
    if (type === 'g') {
      if (['path', 'linkpath', 'size'].some((key) => records.has(key)))
        throw badArchive('a global pax header sets a path or size');
      return;
    }
    if ([...records.keys()].some((key) => key.startsWith('GNU.sparse.')))
      throw badArchive('it contains a sparse file');
    this.#path = records.get('path') ?? this.#path;
    this.#target = records.get('linkpath') ?? this.#target;
    this.#size = whole(records.get('size'), /^\d{1,15}$/) ?? this.#size;
    this.#mtime = whole(records.get('mtime'), /^-?\d{1,15}(\.\d*)?$/) ?? this.#mtime;
  }

  applyTo(header: TarHeader): TarHeader {
    const full = {
      ...header,
      path: this.#path ?? header.path,
      target: this.#target ?? header.target,
      size: this.#size ?? header.size,
      mtime: this.#mtime ?? header.mtime,
    };
    this.#path = undefined;
    this.#target = undefined;
    this.#size = undefined;
    this.#mtime = undefined;
    return full;
  }
}

function whole(text: string | undefined, form: RegExp): number | undefined {
  if (text === undefined) return undefined;
  if (!form.test(text)) throw badArchive('a pax header holds a malformed number');
  return Math.floor(Number(text));
}

/** Reads a stream in portions of the size that the caller requests, whatever the size of its chunks. */
class BlockInput {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #ended = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  async #fill(): Promise<boolean> {
    while (this.#chunk.length === 0 && !this.#ended) {
      const next = await this.#iterator.next();
      if (next.done === true) this.#ended = true;
      else this.#chunk = next.value;
    }
    return this.#chunk.length > 0;
  }

  /** Returns up to `size` bytes of the current chunk. @throws IDKIT_DAMAGED at the end of the stream */
  async #portion(size: number): Promise<Uint8Array> {
    if (!(await this.#fill())) throw badArchive('it is truncated');
    const portion = this.#chunk.subarray(0, size);
    this.#chunk = this.#chunk.subarray(portion.length);
    return portion;
  }

  async take(size: number): Promise<Buffer> {
    if (this.#chunk.length >= size) {
      const { buffer, byteOffset } = this.#chunk;
      this.#chunk = this.#chunk.subarray(size);
      return Buffer.from(buffer, byteOffset, size);
    }
    const parts: Uint8Array[] = [];
    for (let left = size; left > 0; ) {
      const portion = await this.#portion(left);
      parts.push(portion);
      left -= portion.length;
    }
    return Buffer.concat(parts);
  }

  async pass(size: number, sink: EntrySink | undefined): Promise<void> {
    for (let left = size; left > 0; ) {
      const portion = await this.#portion(left);
      await sink?.write(portion);
      left -= portion.length;
    }
  }

  async *remaining(): AsyncGenerator<Uint8Array> {
    while (await this.#fill()) {
      yield this.#chunk;
      this.#chunk = new Uint8Array(0);
    }
  }

  async close(): Promise<void> {
    if (!this.#ended) await this.#iterator.return?.();
  }
}
