/** Maximum number of users whose realm is remembered, about 100 MB. */
const MOST_USERS = 4_000_000;

/** Remembers the realm of each user in 12 bytes, so that sessions can be counted by realm. */
export class OwnerIndex {
  #high = new Uint32Array(1 << 12);
  #low = new Uint32Array(1 << 12);
  #owners = new Uint32Array(1 << 12);
  #size = 0;
  /** True if there are too many users, so that some of them are missing. */
  isFull = false;

  /** @param owner a number from 0 */
  add(userId: string, owner: number): void {
    if (this.#size >= MOST_USERS) {
      this.isFull = true;
      return;
    }
    if (this.#size * 4 >= this.#owners.length * 3) this.#grow();
    this.#put(hashOf(userId, HIGH), hashOf(userId, LOW), owner + 1);
  }

  find(userId: string): number | undefined {
    const owner = this.#owners[this.#place(hashOf(userId, HIGH), hashOf(userId, LOW))]!;
    return owner === 0 ? undefined : owner - 1;
  }

  #put(high: number, low: number, owner: number): void {
    const at = this.#place(high, low);
    if (this.#owners[at] === 0) this.#size += 1;
    this.#high[at] = high;
    this.#low[at] = low;
    this.#owners[at] = owner;
  }

  #place(high: number, low: number): number {
    const mask = this.#owners.length - 1;
    let at = low & mask;
    while (this.#owners[at] !== 0 && (this.#high[at] !== high || this.#low[at] !== low)) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const [high, low, owners] = [this.#high, this.#low, this.#owners];
    const length = owners.length * 2;
    [this.#high, this.#low, this.#owners] = [
      new Uint32Array(length),
      new Uint32Array(length),
      new Uint32Array(length),
    ];
    this.#size = 0;
    for (const [at, owner] of owners.entries()) if (owner !== 0) this.#put(high[at]!, low[at]!, owner);
  }
}

/** The offset and the prime of each half of the hash. */
const HIGH = [0x811c9dc5, 0x01000193] as const;
const LOW = [0x9747b28c, 0x5bd1e995] as const;

/** Returns 32 bits of a text's hash (as FNV-1a). A collision of both halves only moves a session to another realm. */
function hashOf(text: string, [offset, prime]: readonly [number, number]): number {
  let hash = offset;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), prime);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}
