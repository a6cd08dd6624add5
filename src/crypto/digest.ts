import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256 of bytes or of a text's UTF-8. */
export function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}

/** Whether two secrets are equal, in a time that depends on neither; they are hashed, so lengths do not show. */
export function constantTimeEqual(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other));
}
