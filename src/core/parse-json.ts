import { Slices } from './slices.ts';

/** Size in bytes of the parts that are parsed at once. Parsing a part takes less than a millisecond. */
const PART = 16_384;
/** Maximum depth at which large values are divided. Each level reads the bytes below it once more. */
const DEEPEST = 32;
/** Maximum depth of lists and objects. */
const MOST_LEVELS = 100;
/** Maximum size in bytes of a value that cannot be divided: a string, or a value at the depth `DEEPEST`. */
const MOST_AT_ONCE = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses a JSON text of any size in slices, so that other work runs in between. Returns the same value as `JSON.parse`.
 *
 * @throws SyntaxError for invalid JSON, and for values that cannot be parsed in slices: more than 100 levels, and a
 * string of more than 1 MiB. TypeError for bytes that are not UTF-8
 */
export async function parseJsonInSlices(bytes: Buffer): Promise<unknown> {
  const start = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  return parseValue({ bytes, slices: new Slices() }, start, bytes.length, 0);
}

interface Source {
  bytes: Buffer;
  slices: Slices;
}

function parseText({ bytes }: Source, start: number, end: number, before = '', after = ''): unknown {
  if (end - start > MOST_AT_ONCE) throw new SyntaxError('a value is too long to be parsed at once');
  return JSON.parse(before + utf8.decode(bytes.subarray(start, end)) + after);
}

async function parseValue(source: Source, from: number, to: number, depth: number): Promise<unknown> {
  const { bytes } = source;
  const start = skipSpace(bytes, from, to);
  let end = to;
  while (end > start && isSpace(bytes[end - 1])) end--;
  const first = bytes[start];
  if (end - start <= PART || depth >= DEEPEST || (first !== LIST && first !== OBJECT))
    return parseText(source, start, end);
  if (bytes[end - 1] !== (first === LIST ? LIST_END : OBJECT_END)) throw new SyntaxError('no end');
  const collected = first === LIST ? new ListParts() : new ObjectParts();
  let isEmpty = true;
  const addSmall = (partStart: number, partEnd: number, isLast: boolean): void => {
    if (skipSpace(bytes, partStart, partEnd) === partEnd) {
      if (isLast && isEmpty) return;
      throw new SyntaxError('an entry is missing');
    }
    isEmpty = false;
    const [before, after] = first === LIST ? ['[', ']'] : ['{', '}'];
    collected.addAll(parseText(source, partStart, partEnd, before, after));
  };
  const addLarge = async (entryStart: number, entryEnd: number): Promise<void> => {
    isEmpty = false;
    if (first === LIST) return collected.add('', await parseValue(source, entryStart, entryEnd, depth + 1));
    const keyStart = skipSpace(bytes, entryStart, entryEnd);
    if (bytes[keyStart] !== QUOTE) throw new SyntaxError('a key is missing');
    const keyEnd = endOfString(bytes, keyStart, Math.min(entryEnd, keyStart + MOST_AT_ONCE));
    const colon = skipSpace(bytes, keyEnd, entryEnd);
    if (bytes[colon] !== COLON) throw new SyntaxError('a colon is missing');
    const key = String(parseText(source, keyStart, keyEnd));
    collected.add(key, await parseValue(source, colon + 1, entryEnd, depth + 1));
  };
  let groupStart = start + 1;
  let entryStart = groupStart;
  for (const comma of commas(bytes, start + 1, end - 1)) {
    if (source.slices.isOver) await source.slices.pause();
    if (comma === LOOK) continue;
    if (comma - entryStart > PART) {
      if (groupStart < entryStart) addSmall(groupStart, entryStart - 1, false);
      await addLarge(entryStart, comma);
      groupStart = comma + 1;
    } else if (comma - groupStart > PART) {
      addSmall(groupStart, comma, false);
      groupStart = comma + 1;
    }
    entryStart = comma + 1;
  }
  if (end - 1 - entryStart > PART && skipSpace(bytes, entryStart, end - 1) < end - 1) {
    if (groupStart < entryStart) addSmall(groupStart, entryStart - 1, false);
    await addLarge(entryStart, end - 1);
  } else addSmall(groupStart, end - 1, true);
  return collected.value;
}

class ListParts {
  readonly value: unknown[] = [];

  add(_key: string, entry: unknown): void {
    this.value.push(entry);
  }

  addAll(entries: unknown): void {
    for (const entry of entries as readonly unknown[]) this.value.push(entry);
  }
}

class ObjectParts {
  readonly value: Record<string, unknown> = {};

  /** As in `JSON.parse`, the last of several fields with the same key counts, and `__proto__` is an ordinary key. */
  add(key: string, entry: unknown): void {
    if (key !== '__proto__') this.value[key] = entry;
    else {
      const property = { value: entry, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(this.value, key, property);
    }
  }

  addAll(fields: unknown): void {
    for (const [key, entry] of Object.entries(fields as object)) this.add(key, entry);
  }
}

/** Yielded between two commas that are far from each other. */
const LOOK = -1;

/** Yields the positions of the commas that separate the entries of a list or object, and `LOOK` after each part. */
function* commas(bytes: Buffer, start: number, end: number): Generator<number> {
  let depth = 0;
  let inString = false;
  let look = start + PART;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === LIST || byte === OBJECT) depth++;
    else if (byte === LIST_END || byte === OBJECT_END) depth--;
    else if (byte === COMMA && depth === 0) yield at;
    if (depth < 0) throw new SyntaxError('a bracket without a beginning');
    if (depth > MOST_LEVELS) throw new SyntaxError('too many levels');
    if (at > look) {
      look = at + PART;
      yield LOOK;
    }
  }
  if (inString) throw new SyntaxError('a string without an end');
  if (depth !== 0) throw new SyntaxError('a bracket without an end');
}

/** Returns the position after the quote that ends the string. */
function endOfString(bytes: Buffer, start: number, end: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1 && at < end; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  throw new SyntaxError('a string without an end');
}

function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
