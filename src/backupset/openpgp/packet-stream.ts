import { damaged } from '../faults.ts';
import type { ByteReader } from './byte-reader.ts';

// The packets of a message (RFC 9580 §4.2) as streams, for files that are too large for memory.

/** Exponent of the size of the parts in which a packet of unknown length is written: 64 KiB. */
const PART_EXPONENT = 16;
const PART_BYTES = 2 ** PART_EXPONENT;
const PIECE_BYTES = 256 * 1024;

/** The header of a packet. */
export interface PacketHead {
  tag: number;
  length: Length;
}

/** `rest`: the packet extends to the end of the stream. `partial`: another length follows these bytes. */
type Length = { bytes: number; partial: boolean } | 'rest';

/** Reads the header of the next packet. Returns undefined at the end of the stream. @throws IDKIT_DAMAGED */
export async function readHead(reader: ByteReader, file: string): Promise<PacketHead | undefined> {
  const [first] = await reader.some(1);
  if (first === undefined) return undefined;
  if ((first & 0x80) === 0) throw damaged(file, 'it is not an OpenPGP message');
  if ((first & 0x40) !== 0) return { tag: first & 0x3f, length: await readLength(reader, file) };
  return { tag: (first >> 2) & 0x0f, length: await readOldLength(reader, first & 3, file) };
}

/** Passes on the body of a packet. @throws IDKIT_DAMAGED if the stream ends earlier than the packet */
export async function* readBody(
  reader: ByteReader,
  { length }: PacketHead,
  file: string,
): AsyncGenerator<Buffer> {
  for (let part = length; ; part = await readLength(reader, file)) {
    let left = part === 'rest' ? Number.POSITIVE_INFINITY : part.bytes;
    while (left > 0) {
      const piece = await reader.some(Math.min(left, PIECE_BYTES));
      if (piece.length === 0) {
        if (part === 'rest') return;
        throw truncated(file);
      }
      left -= piece.length;
      yield piece;
    }
    if (part === 'rest' || !part.partial) return;
  }
}

async function readLength(reader: ByteReader, file: string): Promise<Length> {
  const one = await need(reader, 1, file).then((bytes) => bytes[0]!);
  if (one < 192) return { bytes: one, partial: false };
  if (one < 224) {
    const [two] = await need(reader, 1, file);
    return { bytes: (one - 192) * 256 + two! + 192, partial: false };
  }
  if (one < 255) return { bytes: 2 ** (one & 0x1f), partial: true };
  return { bytes: (await need(reader, 4, file)).readUInt32BE(), partial: false };
}

async function readOldLength(reader: ByteReader, kind: number, file: string): Promise<Length> {
  if (kind === 3) return 'rest';
  const bytes = await need(reader, 2 ** kind, file);
  return { bytes: bytes.readUIntBE(0, bytes.length), partial: false };
}

async function need(reader: ByteReader, length: number, file: string): Promise<Buffer> {
  const bytes = await reader.exactly(length);
  if (bytes === undefined) throw truncated(file);
  return bytes;
}

export function truncated(file: string) {
  return damaged(file, 'it is truncated');
}

/** Writes one packet whose length is known only at its end, in parts of 64 KiB. */
export class PacketWriter {
  readonly #emit: (bytes: Buffer) => void;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(tag: number, emit: (bytes: Buffer) => void) {
    this.#emit = emit;
    emit(Buffer.of(0xc0 | tag));
  }

  write(chunk: Uint8Array): void {
    this.#held.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= PART_BYTES) return;
    let all = Buffer.concat(this.#held);
    // The last part must not be partial, so at least one byte is held back.
    for (; all.length > PART_BYTES; all = all.subarray(PART_BYTES)) {
      this.#emit(Buffer.of(0xe0 | PART_EXPONENT));
      this.#emit(all.subarray(0, PART_BYTES));
    }
    // A copy, because the caller may reuse its buffer.
    this.#held = [Buffer.from(all)];
    this.#heldBytes = all.length;
  }

  end(): void {
    this.#emit(renderLength(this.#heldBytes));
    for (const piece of this.#held) this.#emit(piece);
    this.#held = [];
  }
}

/** Renders a whole packet in the newer form. */
export function renderPacket(tag: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0xc0 | tag), renderLength(body.length), body]);
}

function renderLength(bytes: number): Buffer {
  if (bytes < 192) return Buffer.of(bytes);
  const length = Buffer.of(0xff, 0, 0, 0, 0);
  length.writeUInt32BE(bytes, 1);
  return length;
}
