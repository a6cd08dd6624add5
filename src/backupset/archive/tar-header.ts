/** The size of a tar block in bytes (POSIX pax, "ustar Interchange Format"). */
export const TAR_BLOCK = 512;

/** Two zero blocks end an archive. */
export const TAR_END = Buffer.alloc(TAR_BLOCK * 2);

export interface TarHeader {
  path: string;
  /** `0` file, `5` directory, `2` symbolic link, `1` hard link, `x` and `g` pax records, `L` and `K` GNU names, … */
  type: string;
  /** Twelve bits: permissions, setuid, setgid and sticky. */
  mode: number;
  size: number;
  mtime: number;
  target: string;
}

/**
 * Renders the blocks that begin an entry: a ustar header owned by 0:0, and a pax header before it if a value does not
 * fit into ustar. A reader that knows only ustar still sees the beginning of the name.
 */
export function renderTarHeader(header: TarHeader): Buffer {
  const records: [string, string][] = [];
  const split = splitPath(header.path);
  if (split === undefined) records.push(['path', header.path]);
  if (!fits(header.target, 100)) records.push(['linkpath', header.target]);
  if (header.mtime < 0 || header.mtime > 0o77777777777) records.push(['mtime', String(header.mtime)]);
  const block = renderBlock({
    ...header,
    mtime: Math.min(Math.max(header.mtime, 0), 0o77777777777),
    ...(split ?? { name: cut(header.path), prefix: '' }),
  });
  if (records.length === 0) return block;
  const body = Buffer.from(records.map(([key, value]) => renderRecord(key, value)).join(''), 'utf8');
  const pax = { path: '', type: 'x', mode: 0o644, size: body.length, mtime: 0, target: '' };
  return Buffer.concat([
    renderBlock({ ...pax, name: 'PaxHeader', prefix: '' }),
    body,
    Buffer.alloc(padding(body.length)),
    block,
  ]);
}

/** Returns how many zero bytes fill the last block of an entry with `size` bytes. */
export function padding(size: number): number {
  return (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK;
}

/** Renders the pax record `LENGTH key=value\n`. The length includes its own digits. */
function renderRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (bytes + String(length).length !== length) length = bytes + String(length).length;
  return `${length}${rest}`;
}

function renderBlock(header: TarHeader & { name: string; prefix: string }): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  block.write(header.name, 0, 100, 'utf8');
  block.write(octal(header.mode, 7), 100, 'latin1');
  block.write(octal(0, 7), 108, 'latin1');
  block.write(octal(0, 7), 116, 'latin1');
  block.write(octal(header.size, 11), 124, 'latin1');
  block.write(octal(header.mtime, 11), 136, 'latin1');
  block.write('        ', 148, 'latin1');
  block.write(header.type, 156, 'latin1');
  block.write(cut(header.target), 157, 100, 'utf8');
  block.write('ustar\x0000', 257, 'latin1');
  block.write('root', 265, 'latin1');
  block.write('root', 297, 'latin1');
  block.write(octal(0, 7), 329, 'latin1');
  block.write(octal(0, 7), 337, 'latin1');
  block.write(header.prefix, 345, 155, 'utf8');
  block.write(`${octal(checksum(block), 6)}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function fits(text: string, bytes: number): boolean {
  return text.length <= bytes && /^[\x20-\x7e]*$/.test(text);
}

function cut(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, 100);
}

/** Splits a path into the prefix and name of a ustar header. Returns undefined if the path does not fit. */
function splitPath(path: string): { name: string; prefix: string } | undefined {
  if (fits(path, 100)) return { name: path, prefix: '' };
  if (!fits(path, 256)) return undefined;
  for (let at = path.indexOf('/', path.length - 101); at > 0 && at <= 155; at = path.indexOf('/', at + 1)) {
    const name = path.slice(at + 1);
    if (name !== '' && name.length <= 100) return { name, prefix: path.slice(0, at) };
  }
  return undefined;
}

function checksum(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < TAR_BLOCK; at++) sum += at >= 148 && at < 156 ? 0x20 : block[at]!;
  return sum;
}

/** Parses a header block. Returns undefined if its checksum, a number or a name is wrong. */
export function parseTarHeader(block: Buffer): TarHeader | undefined {
  const stored = number(block, 148, 8);
  const size = number(block, 124, 12);
  const mode = number(block, 100, 8);
  const mtime = number(block, 136, 12);
  if (stored !== checksum(block) || size === undefined || mode === undefined || mtime === undefined)
    return undefined;
  if (size < 0) return undefined;
  const name = text(block, 0, 100);
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? text(block, 345, 155) : '';
  const target = text(block, 157, 100);
  if (name === undefined || prefix === undefined || target === undefined) return undefined;
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156]!);
  return { path: prefix === '' ? name : `${prefix}/${name}`, type, mode: mode & 0o7777, size, mtime, target };
}

/** Parses octal digits or a number in GNU's base 256. */
function number(block: Buffer, start: number, length: number): number | undefined {
  if ((block[start]! & 0x80) !== 0) {
    const negative = (block[start]! & 0x40) !== 0;
    let value = negative ? -1n : BigInt(block[start]! & 0x3f);
    for (const byte of block.subarray(start + 1, start + length)) value = value * 256n + BigInt(byte);
    const plain = Number(value);
    return Number.isSafeInteger(plain) ? plain : undefined;
  }
  const field = block.toString('latin1', start, start + length);
  const end = field.indexOf('\0');
  const trimmed = (end < 0 ? field : field.slice(0, end)).trim();
  if (trimmed === '') return 0;
  return /^[0-7]+$/.test(trimmed) ? Number.parseInt(trimmed, 8) : undefined;
}

function text(block: Buffer, start: number, length: number): string | undefined {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return utf8(end < 0 ? field : field.subarray(0, end));
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Returns undefined for bytes that are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return DECODER.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Parses pax records into a map by key. Returns undefined if a record is malformed. */
export function parsePaxRecords(body: Buffer): Map<string, string> | undefined {
  const records = new Map<string, string>();
  let at = 0;
  while (at < body.length) {
    const space = body.indexOf(0x20, at);
    const digits = space < 0 ? '' : body.toString('latin1', at, space);
    const end = at + Number(digits);
    if (!/^[1-9]\d{0,6}$/.test(digits) || end > body.length || end <= space + 1 || body[end - 1] !== 0x0a)
      return undefined;
    const record = utf8(body.subarray(space + 1, end - 1));
    const equals = record?.indexOf('=') ?? -1;
    if (record === undefined || equals <= 0) return undefined;
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return records;
}
