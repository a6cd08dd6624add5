import type { Target } from '../target/index.ts';
import type { Detail, FileKind, Mark } from './contract.ts';
import { fileName } from './format/names.ts';
import { sealFile } from './format/sealed-file.ts';
import type { ArchiveKeys } from './keys.ts';

/** Where the next file of a chain follows. It is kept on this machine, so that a restart continues the chain. */
export interface ChainEnd {
  chain: string;
  /** The hash of the chain's first file, which the first part of the base and of the log follow. */
  chainHash: string;
  /** The number and the hash of the last file with log. 0 and `chainHash` before the first one. */
  log: { number: number; hash: string };
}

/** A part of a log that follows what was written before. */
export interface LogPart {
  generation: number;
  /** Where the content begins in the log of the generation, in bytes. */
  start: number;
  content: Uint8Array;
  marks: readonly Mark[];
  /** The time that the file's name contains: the one of the last mark. */
  until: number;
  detail?: Detail;
}

/** Writes one chain to a target. Calls of one kind must not overlap; base and log may be written at the same time. */
export class ChainWriter {
  readonly #target: Target;
  readonly #keys: ArchiveKeys;
  readonly #chain: string;
  readonly #chainHash: string;
  #log: { number: number; hash: string };
  #base: { number: number; hash: string };

  private constructor(target: Target, keys: ArchiveKeys, end: ChainEnd) {
    this.#target = target;
    this.#keys = keys;
    this.#chain = end.chain;
    this.#chainHash = end.chainHash;
    this.#log = end.log;
    this.#base = { number: 0, hash: end.chainHash };
  }

  /**
   * Begins a chain.
   *
   * @param chain a name of `chainName`
   * @param detail what the reader must know about the kind of database, and which chain it follows
   */
  static async begin(target: Target, keys: ArchiveKeys, chain: string, detail: Detail): Promise<ChainWriter> {
    const { bytes, hash } = sealFile(
      keys,
      {
        chain,
        name: 'chain',
        kind: 'chain',
        number: 1,
        previous: null,
        generation: 0,
        start: 0,
        marks: [],
        detail,
      },
      new Uint8Array(),
    );
    await putBytes(target, `${chain}/chain`, bytes);
    return new ChainWriter(target, keys, { chain, chainHash: hash, log: { number: 0, hash } });
  }

  /** Continues a chain where `end` of an earlier writer was. */
  static resume(target: Target, keys: ArchiveKeys, end: ChainEnd): ChainWriter {
    return new ChainWriter(target, keys, end);
  }

  get end(): ChainEnd {
    return { chain: this.#chain, chainHash: this.#chainHash, log: this.#log };
  }

  /** Writes the next part of the base, at most `LARGEST_PART` bytes. */
  async putBase(content: Uint8Array, detail: Detail = {}): Promise<void> {
    const number = this.#base.number + 1;
    const hash = await this.#put('base', { number, previous: this.#base.hash, content, detail });
    this.#base = { number, hash };
  }

  /**
   * Ends the base. Only from here on can the chain be restored.
   *
   * @param first the first moment that can be restored
   */
  async endBase(first: Mark & { generation: number }, detail: Detail = {}): Promise<void> {
    const { at, position, generation } = first;
    await this.#put('base-end', {
      number: this.#base.number,
      previous: this.#base.hash,
      content: new Uint8Array(),
      generation,
      marks: [{ at, position }],
      detail,
    });
  }

  /**
   * Writes the next part of the log. A call that failed can be repeated with the same part or a longer one.
   *
   * @returns the size of the file
   */
  async putLog({ content, until, ...part }: LogPart): Promise<number> {
    const number = this.#log.number + 1;
    let size = 0;
    const hash = await this.#put(
      'log',
      { number, previous: this.#log.hash, content, until, ...part },
      (bytes) => {
        size = bytes;
      },
    );
    this.#log = { number, hash };
    return size;
  }

  async #put(
    kind: FileKind,
    file: {
      number: number;
      previous: string;
      content: Uint8Array;
      generation?: number;
      start?: number;
      marks?: readonly Mark[];
      until?: number;
      detail?: Detail;
    },
    written: (bytes: number) => void = () => {},
  ): Promise<string> {
    const { content, until = 0, ...facts } = file;
    const name = fileName({ kind, generation: file.generation ?? 0, number: file.number, until });
    const { bytes, hash } = sealFile(
      this.#keys,
      { chain: this.#chain, name, kind, generation: 0, start: 0, marks: [], detail: {}, ...facts },
      content,
    );
    await putBytes(this.#target, `${this.#chain}/${name}`, bytes);
    written(bytes.length);
    return hash;
  }
}

function putBytes(target: Target, name: string, bytes: Uint8Array): Promise<void> {
  return target.put(name, once(bytes), { size: bytes.length });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
