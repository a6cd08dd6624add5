/** A small generator of numbers whose sequence depends only on its seed (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below);
  };
}

/** Maximum size in bytes of an input. */
export const LONGEST_INPUT = 64 * 1024;

const EDGES = [0, 1, 9, 10, 13, 32, 34, 39, 47, 92, 127, 128, 192, 254, 255];

/**
 * Changes an input in one to eight places: flips bits, writes, inserts, removes and repeats bytes, inserts words of the
 * format, and takes a piece of another input.
 */
export function mutate(
  input: Uint8Array,
  others: readonly Uint8Array[],
  dictionary: readonly Buffer[],
  random: (below: number) => number,
): Buffer {
  let bytes = Buffer.from(input);
  const insert = (at: number, piece: Uint8Array) =>
    Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
  for (let left = 1 + random(random(4) === 0 ? 8 : 2); left > 0; left--) {
    const at = random(bytes.length + 1);
    const length = 1 + random(random(4) === 0 ? bytes.length : 16);
    switch (random(9)) {
      case 0:
        if (at < bytes.length) bytes[at] = bytes[at]! ^ (1 << random(8));
        break;
      case 1:
        if (at < bytes.length) bytes[at] = EDGES[random(EDGES.length)]!;
        break;
      case 2:
        bytes = insert(at, Buffer.from([random(2) === 0 ? random(256) : EDGES[random(EDGES.length)]!]));
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 4:
        bytes = insert(at, bytes.subarray(random(bytes.length), random(bytes.length) + length));
        break;
      case 5:
      case 6:
        if (dictionary.length > 0) bytes = insert(at, dictionary[random(dictionary.length)]!);
        break;
      case 7: {
        const other = others[random(others.length)] ?? bytes;
        const from = random(other.length);
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          other.subarray(from, from + length),
          bytes.subarray(at + length),
        ]);
        break;
      }
      default:
        bytes = insert(at, bytes.subarray(at, at + Math.min(length, 256)));
    }
    if (bytes.length > LONGEST_INPUT) bytes = bytes.subarray(0, LONGEST_INPUT);
  }
  return bytes;
}

/** Returns the words of a dictionary as bytes. Their characters are bytes, or UTF-8 if one is larger than a byte. */
export function dictionaryOf(words: readonly string[]): readonly Buffer[] {
  return words.map((word) => Buffer.from(word, /^[\0-\xff]*$/.test(word) ? 'latin1' : 'utf8'));
}
