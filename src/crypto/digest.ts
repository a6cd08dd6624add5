import { hash, timingSafeEqual } from 'node:crypto';

/** SHA-256 of bytes or of a text's UTF-8. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** Bytes that most secrets fit in; hashing costs as much as half a signature. */
const ROOM = 512;
const left = Buffer.alloc(ROOM);
const right = Buffer.alloc(ROOM);

/**
 * Whether two secrets are equal, in a time that depends on neither: both are laid into the same room, and longer
 * ones are hashed, so lengths do not show.
 */
export function constantTimeEqual(one: string, other: string): boolean {
  // A character takes three bytes of UTF-8 at most.
  if (one.length > ROOM / 3 || other.length > ROOM / 3) return timingSafeEqual(sha256(one), sha256(other));
  const leftLength = left.write(one);
  const rightLength = right.write(other);
  const same = timingSafeEqual(left, right);
  left.fill(0);
  right.fill(0);
  return same && leftLength === rightLength;
}
