import { hash, timingSafeEqual } from 'node:crypto';

/** Returns the SHA-256 of bytes, or of a text in UTF-8. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/**
 * Size of the buffers in bytes, enough for most secrets. A longer secret is hashed, which takes half as long as a
 * signature.
 */
const ROOM = 512;
const left = Buffer.alloc(ROOM);
const right = Buffer.alloc(ROOM);

/**
 * Compares two secrets in a time that does not depend on their content. Both are copied into buffers of the same size,
 * and longer ones are hashed, so that the time does not reveal their length either.
 */
export function constantTimeEqual(one: string, other: string): boolean {
  // Each UTF-16 unit takes at most three bytes of UTF-8, so shorter texts fit into the buffers.
  if (one.length > ROOM / 3 || other.length > ROOM / 3) return timingSafeEqual(sha256(one), sha256(other));
  const leftLength = left.write(one);
  const rightLength = right.write(other);
  const same = timingSafeEqual(left, right);
  left.fill(0);
  right.fill(0);
  return same && leftLength === rightLength;
}
