import { randomBytes, randomFillSync } from 'node:crypto';

/** Where time comes from; a test brings its own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Where randomness comes from; a test brings its own. */
export interface Random {
  /** `length` random bytes. */
  bytes(length: number): Buffer;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Bytes fetched at once: each call to the source costs as much as a signature's tenth, small ones too. */
const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** The operating system's randomness. Small amounts come from a pool; no byte is given twice or kept. */
export const systemRandom: Random = {
  bytes: (length) => {
    if (length > POOL_BYTES / 8) return randomBytes(length);
    if (used + length > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = Buffer.from(pool.subarray(used, used + length));
    pool.fill(0, used, used + length);
    used += length;
    return bytes;
  },
};

/** Whole seconds since the Unix epoch, rounded down, as JWT claims want them (RFC 7519 §2). */
export function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

/** A version 4 UUID (RFC 9562 §5.4) from the given randomness. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * `length` random bytes in base64url; 18 bytes make the 24 characters of a session id. It never begins with `-`,
 * which a command line would take for a flag; that costs a fiftieth of a bit.
 */
export function randomId(random: Random, length = 18): string {
  return random.bytes(length).toString('base64url').replace(/^-/, 'A');
}
