import { randomBytes, randomFillSync } from 'node:crypto';

declare const BRAND: unique symbol;

/**
 * A type whose values cannot be assigned to a type with another brand. Values without a brand are accepted, so the
 * compiler reports only mix-ups. The brand does not exist at run time.
 */
export type Branded<T, Name extends string> = T & { readonly [BRAND]?: Name };

export type Seconds = Branded<number, 'Seconds'>;
export type Milliseconds = Branded<number, 'Milliseconds'>;

/** The source of time. A test injects its own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): Milliseconds;
}

/** The source of randomness. A test injects its own. */
export interface Random {
  /** Returns `length` random bytes. */
  bytes(length: number): Buffer;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Number of bytes to fetch in one call, because even a small call takes a tenth of the time of a signature. */
const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * The operating system's randomness. Small amounts come from a pool, which returns each byte only once and then erases
 * it.
 */
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

/** Returns the Unix time in whole seconds, rounded down, as in JWT claims (RFC 7519 §2). */
export function seconds(clock: Clock): Seconds {
  return Math.floor(clock.now() / 1000);
}

/** Generates a version 4 UUID (RFC 9562 §5.4) from the given randomness. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Generates an id from `length` random bytes in base64url. For a session id, 18 bytes result in 24 characters. The id
 * never begins with `-`, which a command line would read as a flag. This costs 0.02 bits of entropy.
 */
export function randomId(random: Random, length = 18): string {
  return random.bytes(length).toString('base64url').replace(/^-/, 'A');
}
