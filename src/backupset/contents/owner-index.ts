/** Maximum number of users whose realm is remembered, about 100 MB. */
const MOST_USERS = 4_000_000;

/** Remembers the realm of each user in 12 bytes, so that sessions can be counted by realm. */
export class OwnerIndex {
  #hashes = new BigUint64Array(1 << 12);
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
    if (this.#size * 4 >= this.#hashes.length * 3) this.#grow();
    this.#put(hashOf(userId), owner + 1);
  }

  find(userId: string): number | undefined {
    const at = this.#place(hashOf(userId));
    const owner = this.#owners[at]!;
    return owner === 0 ? undefined : owner - 1;
  }

  #put(hash: bigint, owner: number): void {
    const at = this.#place(hash);
    if (this.#owners[at] === 0) this.#size += 1;
    this.#hashes[at] = hash;
    this.#owners[at] = owner;
  }

  #place(hash: bigint): number {
    const mask = this.#hashes.length - 1;
    let at = Number(hash & 0x7fff_ffffn) & mask;
    while (this.#owners[at] !== 0 && this.#hashes[at] !== hash) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const [hashes, owners] = [this.#hashes, this.#owners];
    this.#hashes = new BigUint64Array(hashes.length * 2);
    this.#owners = new Uint32Array(hashes.length * 2);
    this.#size = 0;
    for (const [at, owner] of owners.entries()) if (owner !== 0) this.#put(hashes[at]!, owner);
  }
}

/** Returns 64 bits of a text's hash (FNV-1a with two offsets). A collision only moves a session to another realm. */
function hashOf(text: string): bigint {
  let one = 0x811c9dc5;
  let two = 0x9747b28c;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code, 0x5bd1e995);
    two ^= two >>> 13;
  }
  return (BigInt(one >>> 0) << 32n) | BigInt(two >>> 0);
}
