import type { Target } from '../target/index.ts';
import type { BaseEnd, FileHeader, LogEnd, LogName, OpenedFile } from './contract.ts';
import { fileName, isFileName, readBaseName, readLogName } from './format/names.ts';
import { damaged, LARGEST_FILE, openFile, readHeader } from './format/sealed-file.ts';
import type { ArchiveKeys } from './keys.ts';

/** How much of a file is read for its header at first. Headers with many marks are longer. */
const HEADER_BYTES = 16 * 1024;

/** The files of a chain, as a target lists them. */
export interface ChainListing {
  name: string;
  /** Names of files within the chain, and their sizes in bytes. */
  files: ReadonlyMap<string, number>;
  /** The names of the files that end a base, in order. */
  baseEnds: readonly string[];
  /** The files with log, in order. */
  logs: readonly LogName[];
  /** Names that an archive does not have. They are ignored and reported. */
  unknown: readonly string[];
}

/** Reads the chains of one target. Each file is checked before anything of it is used. */
export class ArchiveReader {
  readonly #target: Target;
  readonly #keys: ArchiveKeys;

  constructor(target: Target, keys: ArchiveKeys) {
    this.#target = target;
    this.#keys = keys;
  }

  /** Reads and checks a whole file of a chain. */
  async open(chain: string, name: string): Promise<OpenedFile> {
    const path = `${chain}/${name}`;
    const opened = openFile(this.#keys, path, await this.#read(path, LARGEST_FILE));
    return opened;
  }

  /** Reads and checks the header of a file alone. */
  async header(chain: string, name: string): Promise<{ header: FileHeader; hash: string }> {
    const path = `${chain}/${name}`;
    const start = await this.#read(path, HEADER_BYTES);
    const whole = start.includes(0x0a) ? start : await this.#read(path, LARGEST_FILE);
    return readHeader(this.#keys, path, whole);
  }

  /** Reads the header of the first file of a chain: when it began, of which database, and what it follows. */
  async chain(listing: ChainListing): Promise<{ header: FileHeader; hash: string }> {
    if (!listing.files.has('chain')) throw damaged(`${listing.name}/chain`, 'it is missing');
    return this.header(listing.name, 'chain');
  }

  /** Reads the end of each complete base, the oldest first. */
  async bases(listing: ChainListing): Promise<readonly BaseEnd[]> {
    const ends: BaseEnd[] = [];
    for (const name of listing.baseEnds)
      ends.push(readBaseEnd((await this.header(listing.name, name)).header));
    return ends;
  }

  /**
   * Reads a base in order, each part checked.
   *
   * @throws IDKIT_DAMAGED for a missing, changed or moved part
   */
  async *base(listing: ChainListing, base: number): AsyncGenerator<Buffer> {
    const endName = fileName({ kind: 'base-end', base, number: 0, generation: 0, until: 0 });
    const end = await this.header(listing.name, endName);
    let previous = (await this.chain(listing)).hash;
    for (let number = 1; number <= end.header.number; number++) {
      const name = fileName({ kind: 'base', base, number, generation: 0, until: 0 });
      if (!listing.files.has(name)) throw damaged(`${listing.name}/${name}`, 'it is missing');
      const opened = await this.open(listing.name, name);
      follow(listing.name, opened, { previous, number });
      previous = opened.hash;
      yield opened.content;
    }
    if (end.header.previous !== previous)
      throw damaged(`${listing.name}/${endName}`, 'it follows another base');
  }

  /**
   * Reads the log in order, each file checked, from the first file of the chain or from the one after `after`.
   *
   * @throws IDKIT_DAMAGED for a missing, changed or moved file
   */
  async *log(listing: ChainListing, after?: LogEnd): AsyncGenerator<OpenedFile> {
    let { number, hash: previous } = after ?? { number: 0, hash: (await this.chain(listing)).hash };
    for (const candidates of groupByNumber(listing.logs)) {
      const [{ name: first, number: found }] = candidates;
      if (found <= number) continue;
      number++;
      if (found !== number) throw damaged(`${listing.name}/${first}`, `file ${number} before it is missing`);
      const opened = await this.#choose(listing, candidates, { previous, number });
      previous = opened.hash;
      yield opened;
    }
  }

  /**
   * Opens the file of a number. A service that was killed between the end of a transfer and its own note of it writes
   * the number again, with more log. The file after it, or else its length, says which of them counts.
   */
  async #choose(
    listing: ChainListing,
    candidates: readonly LogName[],
    place: { previous: string; number: number },
  ): Promise<OpenedFile> {
    const opened: OpenedFile[] = [];
    for (const { name } of candidates) {
      const file = await this.open(listing.name, name);
      follow(listing.name, file, place);
      opened.push(file);
    }
    const [first] = opened;
    if (opened.length === 1 && first !== undefined) return first;
    const next = listing.logs.find(({ number }) => number === place.number + 1);
    const referred = next && (await this.header(listing.name, next.name)).header.previous;
    return (
      opened.find(({ hash }) => hash === referred) ??
      opened.reduce((longest, file) => (file.header.bytes > longest.header.bytes ? file : longest))
    );
  }

  async #read(path: string, longest: number): Promise<Buffer> {
    const stream = await this.#target.read(path, { start: 0, length: longest });
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    return Buffer.concat(parts);
  }
}

/** Lists the chains of a target, the oldest first. */
export async function listChains(target: Target): Promise<readonly ChainListing[]> {
  const chains = new Map<string, { files: Map<string, number>; unknown: string[] }>();
  for await (const { name, size } of target.list('')) {
    const slash = name.indexOf('/');
    const chain = slash < 0 ? '' : name.slice(0, slash);
    const file = name.slice(slash + 1);
    const known = chains.get(chain) ?? { files: new Map<string, number>(), unknown: [] as string[] };
    chains.set(chain, known);
    if (slash > 0 && isFileName(file)) known.files.set(file, size);
    else known.unknown.push(name);
  }
  return [...chains]
    .filter(([name]) => name !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { files, unknown }]) => ({
      name,
      files,
      baseEnds: [...files.keys()]
        .filter((file) => readBaseName(file)?.part === undefined && file.endsWith('-end'))
        .sort(),
      logs: [...files.keys()]
        .map((file) => readLogName(file))
        .filter((log) => log !== undefined)
        .sort((a, b) => a.number - b.number || a.until - b.until),
      unknown,
    }));
}

function readBaseEnd({ base, number, generation, marks, detail }: FileHeader): BaseEnd {
  const { firstGeneration, afterNumber, afterHash, ...rest } = detail;
  return {
    base,
    parts: number,
    generation,
    after: { number: Number(afterNumber), hash: String(afterHash) },
    first: marks[0]!,
    firstGeneration: Number(firstGeneration),
    detail: rest,
  };
}

function follow(chain: string, { header }: OpenedFile, place: { previous: string; number: number }): void {
  if (header.number !== place.number || header.previous !== place.previous)
    throw damaged(`${chain}/${header.name}`, 'it does not follow the file before it');
}

function groupByNumber(logs: readonly LogName[]): [LogName, ...LogName[]][] {
  const groups: [LogName, ...LogName[]][] = [];
  for (const log of logs) {
    const last = groups.at(-1);
    if (last?.[0].number === log.number) last.push(log);
    else groups.push([log]);
  }
  return groups;
}
