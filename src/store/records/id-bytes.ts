import type { Row } from '../schema.ts';

/**
 * The ids of sessions, token families and their clients are stored as bytes, which take half the space of text. Every
 * text has exactly one form, so a different spelling of an id never matches. Within each kind, the bytes have the same
 * order as the texts:
 *
 * - a UUID in lower case: its 16 bytes;
 * - 24 characters of the base64url alphabet, such as the id of a session: 18 bytes, 6 bits for each character, which are
 *   its place in `ALPHABET`;
 * - an empty text: no bytes;
 * - any other text: its UTF-8 bytes and a mark of one or two bytes, which makes the length odd.
 */
export function idBytes(id: string): Uint8Array {
  if (id.length === 36 && UUID.test(id)) return Buffer.from(id.replaceAll('-', ''), 'hex');
  if (id.length === 24 && SHORT.test(id)) return packed(id);
  if (id === '') return new Uint8Array();
  const text = Buffer.from(id, 'utf8');
  return Buffer.concat([text, text.length % 2 === 0 ? EVEN : ODD]);
}

/** Returns the id that `idBytes` stored. */
export function idText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 16) {
    const hex = buffer.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
  if (buffer.length === 18) return unpacked(buffer);
  return buffer.toString('utf8', 0, buffer.length - (buffer.at(-1) === EVEN[0] ? EVEN.length : ODD.length));
}

/** Returns the value that a query binds for an id or for an array of ids. */
export function boundId(value: unknown): Uint8Array | Uint8Array[] {
  return Array.isArray(value) ? value.map((id) => idBytes(id)) : idBytes(value as string);
}

/**
 * Replaces the bytes of ids in rows with their texts.
 *
 * @param ids the columns of the ids
 */
export function readIds<R extends Row>(rows: R[], ids: readonly string[] | undefined): R[] {
  if (ids === undefined) return rows;
  for (const row of rows as Row[])
    for (const name of ids) {
      const value = row[name];
      if (value instanceof Uint8Array) row[name] = idText(value);
    }
  return rows;
}

/**
 * Returns an SQL expression with the same result as `idBytes`.
 *
 * @param text an SQL expression for the id. Its text must not contain NUL
 */
export function idBytesSql(text: string, dialect: 'sqlite' | 'postgres'): string {
  return dialect === 'sqlite' ? sqliteBytes(text) : postgresBytes(text);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SHORT = /^[-0-9A-Z_a-z]{24}$/;
/** The base64url alphabet (RFC 4648 §5) in the order of ASCII. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The marks of a text with an even and with an odd number of bytes. Their last bytes differ. */
const EVEN = Buffer.from([0]);
const ODD = Buffer.from([0, 1]);

const PLACES = new Uint8Array(128);
for (let place = 0; place < ALPHABET.length; place++) PLACES[ALPHABET.charCodeAt(place)] = place;

function packed(id: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(18);
  for (let group = 0; group < 6; group++) {
    let bits = 0;
    for (let at = 4 * group; at < 4 * group + 4; at++) bits = (bits << 6) | PLACES[id.charCodeAt(at)]!;
    bytes.writeUIntBE(bits, 3 * group, 3);
  }
  return bytes;
}

function unpacked(bytes: Buffer): string {
  let id = '';
  for (let group = 0; group < 6; group++) {
    const bits = bytes.readUIntBE(3 * group, 3);
    for (let shift = 18; shift >= 0; shift -= 6) id += ALPHABET[(bits >> shift) & 63]!;
  }
  return id;
}

function postgresBytes(text: string): string {
  return `CASE WHEN ${text} ~ '${UUID.source}' THEN decode(replace(${text}, '-', ''), 'hex')
    WHEN ${text} ~ '${SHORT.source}' THEN decode(translate(${text}, '${ALPHABET}', '${BASE64}'), 'base64')
    WHEN ${text} = '' THEN ''::bytea
    WHEN octet_length(${text}) % 2 = 0 THEN convert_to(${text}, 'UTF8') || '\\x00'::bytea
    ELSE convert_to(${text}, 'UTF8') || '\\x0001'::bytea END`;
}

function sqliteBytes(text: string): string {
  const hex = (count: number) => '[0-9a-f]'.repeat(count);
  const uuid = [8, 4, 4, 4, 12].map(hex).join('-');
  const place = (at: number) => `(instr('${ALPHABET}', substr(${text}, ${at}, 1)) - 1)`;
  const groups = Array.from({ length: 6 }, (_, group) => {
    const [a, b, c, d] = [1, 2, 3, 4].map((at) => place(4 * group + at));
    return `printf('%06x', (${a} << 18) | (${b} << 12) | (${c} << 6) | ${d})`;
  });
  return `CASE WHEN ${text} GLOB '${uuid}' THEN unhex(replace(${text}, '-', ''))
    WHEN length(${text}) = 24 AND ${text} NOT GLOB '*[^-0-9A-Z_a-z]*' THEN unhex(concat(${groups.join(', ')}))
    WHEN ${text} = '' THEN x''
    WHEN length(CAST(${text} AS BLOB)) % 2 = 0 THEN CAST(concat(${text}, char(0)) AS BLOB)
    ELSE CAST(concat(${text}, char(0, 1)) AS BLOB) END`;
}
