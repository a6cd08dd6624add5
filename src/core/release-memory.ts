/**
 * Frees the memory of bytes that are no longer needed. Otherwise it stays until the next garbage collection, which can be
 * 64 MB later, because memory outside the heap hardly counts. Does nothing if other bytes share the memory, for example
 * those of a pool.
 */
export function releaseMemory(bytes: Uint8Array): void {
  if (ownsMemory(bytes)) bytes.buffer.transfer(0);
}

/** Returns whether bytes are all of their memory, so that no other bytes are in it. */
export function ownsMemory(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength;
}
