import { writeFile } from 'node:fs/promises';
import {
  type ArchiveReader,
  type BaseEnd,
  type ChainListing,
  damaged,
  type OpenedFile,
} from '../../../archive/index.ts';
import { historyFileName, walFileName } from '../../../pgtools/index.ts';

/** The number of complete WAL files that are kept in memory, because the server may read the last one again. */
const KEPT = 2;

interface WalFile {
  name: string;
  bytes: Buffer;
}

/**
 * The WAL files of a chain, put together from its pieces. A recovery requests them in ascending order. If it begins
 * again, so does the reader.
 */
export class WalFiles {
  readonly #reader: ArchiveReader;
  readonly #listing: ChainListing;
  readonly #base: BaseEnd;
  readonly #fileBytes: number;
  #pieces: AsyncGenerator<OpenedFile>;
  /** The file that the next piece continues. */
  #open: WalFile | undefined;
  #position: { timeline: number; at: number } | undefined;
  #complete: WalFile[] = [];
  /** The name of the last file that was put together. Files before it were complete earlier. */
  #last = '';
  #isAtEnd = false;

  /** @param base the base to recover, which says where its WAL begins */
  constructor(reader: ArchiveReader, listing: ChainListing, base: BaseEnd, fileBytes: number) {
    this.#reader = reader;
    this.#listing = listing;
    this.#base = base;
    this.#fileBytes = fileBytes;
    this.#pieces = reader.log(listing, base.after);
  }

  /**
   * Writes a WAL file, or the history of a timeline, to `path`. The rest of a file that is not complete is zeros, at
   * which the recovery ends.
   *
   * @returns false if the chain does not contain it
   * @throws IDKIT_DAMAGED
   */
  async supply(name: string, path: string): Promise<boolean> {
    const content = name.endsWith('.history') ? await this.#history(name) : await this.#file(name);
    if (content === undefined) return false;
    await writeFile(path, content, { mode: 0o600 });
    return true;
  }

  /** The timeline with which the chain ends. */
  get timeline(): number | undefined {
    return this.#listing.logs.at(-1)?.generation;
  }

  async #history(name: string): Promise<string | undefined> {
    const own = this.#base.detail['history'];
    if (historyFileName(this.#base.generation) === name && typeof own === 'string') return own;
    const first = this.#listing.logs.find(
      ({ generation }, at, all) =>
        historyFileName(generation) === name && all[at - 1]?.generation !== generation,
    );
    if (first === undefined) return undefined;
    const { header } = await this.#reader.header(this.#listing.name, first.name);
    const { history } = header.detail;
    return typeof history === 'string' ? history : undefined;
  }

  async #file(name: string): Promise<Buffer | undefined> {
    const known = () => this.#complete.find((file) => file.name === name)?.bytes;
    if (known() === undefined && placeOf(name) <= placeOf(this.#last) && this.#last !== '')
      await this.#restart();
    while (
      known() === undefined &&
      !this.#isAtEnd &&
      (this.#last === '' || placeOf(this.#last) < placeOf(name))
    )
      await this.#advance();
    return known() ?? (this.#open?.name === name ? this.#open.bytes : undefined);
  }

  async #restart(): Promise<void> {
    await this.#pieces.return(undefined);
    this.#pieces = this.#reader.log(this.#listing, this.#base.after);
    this.#open = undefined;
    this.#position = undefined;
    this.#complete = [];
    this.#last = '';
    this.#isAtEnd = false;
  }

  /** Reads the next piece. */
  async #advance(): Promise<void> {
    const { value: piece, done } = await this.#pieces.next();
    if (done === true) {
      this.#isAtEnd = true;
      return;
    }
    const { header, content } = piece;
    const { generation: timeline, start } = header;
    const expected = this.#position;
    if (expected !== undefined && expected.timeline === timeline && expected.at !== start)
      throw damaged(`${this.#listing.name}/${header.name}`, 'its WAL does not follow the file before it');
    if (expected?.timeline !== timeline) this.#open = undefined;
    for (let at = 0; at < content.length; ) {
      const position = start + at;
      const inFile = position % this.#fileBytes;
      const name = walFileName(timeline, BigInt(position), this.#fileBytes);
      if (this.#open?.name !== name) this.#open = { name, bytes: Buffer.alloc(this.#fileBytes) };
      const copied = content.copy(this.#open.bytes, inFile, at);
      at += copied;
      if (inFile + copied < this.#fileBytes) continue;
      this.#complete = [...this.#complete.slice(1 - KEPT), this.#open];
      this.#last = name;
      this.#open = undefined;
    }
    this.#position = { timeline, at: start + content.length };
  }
}

/** Returns the part of a WAL file's name that grows from file to file, without the timeline. */
function placeOf(name: string): string {
  return name.slice(8);
}
