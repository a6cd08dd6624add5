import type { Target } from '../target/index.ts';
import type { Detail, FileKind, LogEnd, Mark } from './contract.ts';
import { fileName } from './format/names.ts';
import { sealFile } from './format/sealed-file.ts';
import type { ArchiveKeys } from './keys.ts';

/** Where the next file of a chain follows. It is kept on this machine, so that a restart continues the chain. */
export interface ChainEnd {
  chain: string;
  /** The hash of the chain's first file, which the first part of each base and the first log follow. */
  chainHash: string;
  /** The number of the newest base, complete or not. */
  base: number;
  log: LogEnd;
}

/** A part of a log that follows what was written before. */
export interface LogPart {
  generation: number;
  /** Where the content begins in the log of the generation, in bytes. */
  start: number;
  /** At most `LARGEST_PART` bytes. */
  content: Uint8Array;
  marks: readonly Mark[];
  /** The time in the file's name: the one of the last mark. */
  until: number;
  detail?: Detail;
}

/** A file that is ready to be put to the target. */
export interface SealedPart {
  name: string;
  bytes: Buffer;
  /** The end of the chain when the file is at the target. */
  end: LogEnd;
}

/** Writes a base in parts. */
export interface BaseWriter {
  /** Writes the next part, at most `LARGEST_PART` bytes. */
  put(content: Uint8Array): Promise<void>;
  /**
   * Ends the base. Only from here on can the chain be restored with it.
   *
   * @param from where the log begins that the base needs: a generation, and the last file before it
   * @param first the first moment that can be restored, and its generation
   */
  end(
    from: { generation: number; after: LogEnd },
    first: Mark & { generation: number },
    detail?: Detail,
  ): Promise<void>;
}

interface FileToPut {
  base?: number;
  number: number;
  previous: string | null;
  content: Uint8Array;
  generation?: number;
  start?: number;
  marks?: readonly Mark[];
  until?: number;
  detail?: Detail;
}

/** Writes one chain to a target. Calls for the log must not overlap; a base may be written in the meantime. */
export class ChainWriter {
  readonly #target: Target;
  readonly #keys: ArchiveKeys;
  #end: ChainEnd;

  private constructor(target: Target, keys: ArchiveKeys, end: ChainEnd) {
    this.#target = target;
    this.#keys = keys;
    this.#end = end;
  }

  /**
   * Begins a chain.
   *
   * @param chain a name of `chainName`
   * @param detail what the reader must know about the kind of database, and which chain it follows
   */
  static async begin(target: Target, keys: ArchiveKeys, chain: string, detail: Detail): Promise<ChainWriter> {
    const file = { number: 1, previous: null, content: new Uint8Array(), detail };
    const { name, bytes, hash } = seal(keys, chain, 'chain', file);
    await putBytes(target, name, bytes);
    return new ChainWriter(target, keys, { chain, chainHash: hash, base: 0, log: { number: 0, hash } });
  }

  /** Continues a chain where `end` of an earlier writer was. */
  static resume(target: Target, keys: ArchiveKeys, end: ChainEnd): ChainWriter {
    return new ChainWriter(target, keys, end);
  }

  get end(): ChainEnd {
    return this.#end;
  }

  /** Begins the next base of the chain. */
  beginBase(): BaseWriter {
    const base = this.#end.base + 1;
    this.#end = { ...this.#end, base };
    let [number, previous] = [0, this.#end.chainHash];
    return {
      put: async (content) => {
        const part = this.#seal('base', { base, number: number + 1, previous, content });
        await putBytes(this.#target, part.name, part.bytes);
        [number, previous] = [number + 1, part.hash];
      },
      end: async ({ generation, after }, { generation: firstGeneration, at, position }, detail = {}) => {
        const { name, bytes } = this.#seal('base-end', {
          base,
          number,
          previous,
          content: new Uint8Array(),
          generation,
          marks: [{ at, position }],
          detail: { ...detail, firstGeneration, afterNumber: after.number, afterHash: after.hash },
        });
        await putBytes(this.#target, name, bytes);
      },
    };
  }

  /** Makes the next file with log. It counts only after `putLog`. */
  sealLog({ content, ...part }: LogPart): SealedPart {
    const { number, hash: previous } = this.#end.log;
    const { name, bytes, hash } = this.#seal('log', { number: number + 1, previous, content, ...part });
    return { name, bytes, end: { number: number + 1, hash } };
  }

  /** Puts the file. A call that failed must be repeated with the same file. */
  async putLog({ name, bytes, end }: SealedPart, signal?: AbortSignal): Promise<void> {
    await putBytes(this.#target, name, bytes, signal);
    this.#end = { ...this.#end, log: end };
  }

  #seal(kind: FileKind, file: FileToPut): { name: string; bytes: Buffer; hash: string } {
    return seal(this.#keys, this.#end.chain, kind, file);
  }
}

function seal(
  keys: ArchiveKeys,
  chain: string,
  kind: FileKind,
  { content, until = 0, ...facts }: FileToPut,
): { name: string; bytes: Buffer; hash: string } {
  const header = { base: 0, generation: 0, start: 0, marks: [], detail: {}, ...facts };
  const name = fileName({ ...header, kind, until });
  return { name: `${chain}/${name}`, ...sealFile(keys, { ...header, chain, name, kind }, content) };
}

function putBytes(target: Target, name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  return target.put(name, once(bytes), { size: bytes.length, ...(signal && { signal }) });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
