import { hostile } from '../faults.ts';

/** The packets of sftp version 3 (draft-ietf-secsh-filexfer-02) that idkit sends and receives. */
export const PACKET = {
  init: 1,
  version: 2,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  rename: 18,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attributes: 105,
  extended: 200,
  extendedReply: 201,
} as const;

export const STATUS = {
  ok: 0,
  endOfFile: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  unsupported: 8,
} as const;

const ATTRIBUTE = { size: 1, owner: 2, permissions: 4, times: 8, extended: 0x80000000 } as const;

export interface Attributes {
  size?: number;
  /** Type and permission bits. */
  mode?: number;
  /** Unix time in milliseconds. */
  modifiedAt?: number;
}

/** Joins the fields of a packet: numbers are 32 bits, bigints are 64 bits, texts and bytes have their length before them. */
export function encode(...fields: readonly (number | bigint | string | Uint8Array)[]): Buffer {
  const parts: Buffer[] = [];
  for (const field of fields) {
    if (typeof field === 'number') parts.push(uint32(field));
    else if (typeof field === 'bigint') {
      const long = Buffer.alloc(8);
      long.writeBigUInt64BE(field);
      parts.push(long);
    } else {
      const bytes =
        typeof field === 'string'
          ? Buffer.from(field)
          : Buffer.from(field.buffer, field.byteOffset, field.length);
      parts.push(uint32(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

/** Attributes that set only the permission bits. */
export function encodeMode(mode: number): readonly number[] {
  return [ATTRIBUTE.permissions, mode];
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** Reads the fields of one packet. Reading past its end means that the server is broken or hostile. */
export class PacketReader {
  readonly #bytes: Buffer;
  readonly #label: string;
  #at = 0;

  constructor(label: string, bytes: Buffer) {
    this.#label = label;
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint32(): number {
    return this.#take(4).readUInt32BE();
  }

  uint64(): number {
    const value = this.#take(8).readBigUInt64BE();
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw hostile(this.#label, 'the sftp server sent an impossible size');
    return Number(value);
  }

  bytes(): Buffer {
    return this.#take(this.uint32());
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  attributes(): Attributes {
    const flags = this.uint32();
    const found: Attributes = {};
    if ((flags & ATTRIBUTE.size) !== 0) found.size = this.uint64();
    if ((flags & ATTRIBUTE.owner) !== 0) this.#take(8);
    if ((flags & ATTRIBUTE.permissions) !== 0) found.mode = this.uint32();
    if ((flags & ATTRIBUTE.times) !== 0) found.modifiedAt = this.#take(8).readUInt32BE(4) * 1000;
    if ((flags & ATTRIBUTE.extended) !== 0) {
      for (let left = this.uint32(); left > 0; left -= 1) {
        this.bytes();
        this.bytes();
      }
    }
    return found;
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length)
      throw hostile(this.#label, 'the sftp server sent a packet that is cut off');
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
}
