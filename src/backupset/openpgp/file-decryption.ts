import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { createInflate, createInflateRaw } from 'node:zlib';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { damaged } from '../faults.ts';
import { ByteReader } from './byte-reader.ts';
import { BLOCK_BYTES, HASH_PACKET } from './file-encryption.ts';
import { type PacketHead, readBody, readHead, truncated } from './packet-stream.ts';
import type { SessionKey } from './passphrase-key.ts';
import { cipherName, listKeyIds, type SessionPackets, type SetKeys } from './set-keys.ts';

const PUBLIC_KEY_SESSION = 1;
const SYMMETRIC_SESSION = 3;
const COMPRESSED = 8;
const ENCRYPTED_UNPROTECTED = 9;
const MARKER = 10;
const LITERAL = 11;
const ENCRYPTED = 18;
const ENCRYPTED_AEAD = 20;
const PADDING = 21;

/** A message for a person or a machine has few session key packets. */
const MOST_SESSION_PACKETS = 64;
const SESSION_PACKET_BYTES = 4096;
const HASH_BYTES = 20;

/** An encrypted file of which the session key packets were read. Only one of the two methods may be called. */
export interface OpenedFile {
  packets: SessionPackets;
  /** Undefined if no secret of the required kind was given. */
  content: AsyncGenerator<Buffer> | undefined;
  /** Reads the file to its end without decrypting it. @throws IDKIT_DAMAGED */
  drain(): Promise<void>;
}

/**
 * Opens an encrypted file of a set, which is decrypted in bounded memory. The last chunk is passed on only if the hash
 * inside the message matches its whole content. So the caller must not use a file before reading it to its end.
 *
 * @param file the name of the encrypted file, for errors
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS if the secrets do not decrypt it, IDKIT_VERSION for another encryption
 */
export async function openFile(
  source: AsyncIterable<Uint8Array>,
  keys: SetKeys,
  file: string,
): Promise<OpenedFile> {
  const reader = new ByteReader(source);
  const { packets, head } = await readSessionPackets(reader, file);
  const key = await keys.findSessionKey(packets, file);
  return {
    packets,
    content: key === undefined ? undefined : decrypt(reader, head, key, file),
    async drain() {
      for await (const _ of readBody(reader, head, file));
      await checkEnd(reader, file);
    },
  };
}

/** Decrypts a file of a set like `openFile`. @throws also IDKIT_CREDENTIALS if no secret was given */
export async function* decryptFile(
  source: AsyncIterable<Uint8Array>,
  keys: SetKeys,
  file: string,
): AsyncGenerator<Buffer> {
  const { content, packets } = await openFile(source, keys, file);
  if (content === undefined) throw missingSecret(packets, file);
  yield* content;
}

function missingSecret(packets: SessionPackets, file: string): IdkitError {
  if (packets.publicKey.length === 0)
    return new IdkitError('IDKIT_CREDENTIALS', `${file}: its passphrase is missing`, {
      hints: ['provide the passphrase of the set, for example with IDKIT_BACKUP_PASSPHRASE_FILE'],
    });
  return new IdkitError('IDKIT_CREDENTIALS', `${file}: it is encrypted to ${listKeyIds(packets)}`, {
    hints: ['provide the private key with --key FILE'],
  });
}

async function* decrypt(
  reader: ByteReader,
  head: PacketHead,
  key: SessionKey,
  file: string,
): AsyncGenerator<Buffer> {
  try {
    const inner = new ByteReader(unprotect(readBody(reader, head, file), key, file));
    let held: Buffer | undefined;
    for await (const chunk of readContent(inner, file)) {
      if (held !== undefined) yield held;
      held = chunk;
    }
    await checkEnd(inner, file);
    await checkEnd(reader, file);
    if (held !== undefined) yield held;
  } finally {
    await reader.stop();
  }
}

async function checkEnd(reader: ByteReader, file: string): Promise<void> {
  if ((await reader.some(1)).length > 0) throw damaged(file, 'there is data after its end');
}

async function readSessionPackets(
  reader: ByteReader,
  file: string,
): Promise<{ packets: SessionPackets; head: PacketHead }> {
  const packets: { passphrase: Buffer[]; publicKey: Buffer[] } = { passphrase: [], publicKey: [] };
  for (let count = 0; count <= MOST_SESSION_PACKETS; count += 1) {
    const head = await readHead(reader, file);
    if (head === undefined) throw count === 0 ? damaged(file, 'it is empty') : truncated(file);
    switch (head.tag) {
      case SYMMETRIC_SESSION:
        packets.passphrase.push(await whole(reader, head, file));
        break;
      case PUBLIC_KEY_SESSION:
        packets.publicKey.push(await whole(reader, head, file));
        break;
      case MARKER:
      case PADDING:
        await whole(reader, head, file);
        break;
      case ENCRYPTED:
        return { packets, head };
      case ENCRYPTED_AEAD:
        throw otherEncryption(file, 'a message with AEAD');
      case ENCRYPTED_UNPROTECTED:
        throw damaged(file, 'it is encrypted without integrity protection');
      default:
        throw damaged(file, 'it is not an encrypted OpenPGP message');
    }
  }
  throw damaged(file, `it has more than ${MOST_SESSION_PACKETS} packets before its content`);
}

async function whole(reader: ByteReader, head: PacketHead, file: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of readBody(reader, head, file)) {
    bytes += piece.length;
    if (bytes > SESSION_PACKET_BYTES) throw damaged(file, 'one of its session key packets is too long');
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

/** Decrypts the data and passes on everything but prefix and hash. The hash is checked before the last chunk. */
async function* unprotect(
  body: AsyncIterable<Buffer>,
  key: SessionKey,
  file: string,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(body);
  const [version] = await reader.some(1);
  if (version === 2) throw otherEncryption(file, 'a message with AEAD');
  if (version !== 1) throw damaged(file, 'its encrypted data has an unknown version');
  const decipher = createDecipheriv(cipherName(key), key.data, Buffer.alloc(BLOCK_BYTES));
  const hash = createHash('sha1');
  const start = await reader.exactly(BLOCK_BYTES + 2);
  if (start === undefined) throw truncated(file);
  const prefix = decipher.update(start);
  // The last two bytes are repeated. A wrong key passes here once in 65,536 times, and fails below.
  if (!prefix.subarray(-4, -2).equals(prefix.subarray(-2)))
    throw new IdkitError('IDKIT_CREDENTIALS', `${file}: this passphrase or key does not decrypt it`, {
      hints: ['provide the passphrase or the key with which the set was created'],
    });
  hash.update(prefix);
  let tail = Buffer.alloc(0);
  const tailBytes = HASH_PACKET.length + HASH_BYTES;
  for (;;) {
    const piece = await reader.some(Number.MAX_SAFE_INTEGER);
    if (piece.length === 0) break;
    const plain = Buffer.concat([tail, decipher.update(piece)]);
    const ready = plain.subarray(0, Math.max(0, plain.length - tailBytes));
    tail = plain.subarray(ready.length);
    if (ready.length === 0) continue;
    hash.update(ready);
    yield ready;
  }
  if (tail.length < tailBytes) throw truncated(file);
  const expected = hash.update(tail.subarray(0, HASH_PACKET.length)).digest();
  const isIntact = timingSafeEqual(expected, tail.subarray(HASH_PACKET.length));
  if (!isIntact || !tail.subarray(0, HASH_PACKET.length).equals(HASH_PACKET))
    throw damaged(file, 'its content does not match the hash inside the message');
}

/** Passes on the content of a literal packet, which may be compressed, as gpg does by default. */
async function* readContent(reader: ByteReader, file: string): AsyncGenerator<Buffer> {
  const head = await readHead(reader, file);
  if (head?.tag === COMPRESSED) {
    yield* decompress(readBody(reader, head, file), file);
    return;
  }
  if (head?.tag !== LITERAL) throw damaged(file, 'it does not contain a file');
  yield* readLiteral(reader, head, file);
}

async function* readLiteral(reader: ByteReader, head: PacketHead, file: string): AsyncGenerator<Buffer> {
  const body = new ByteReader(readBody(reader, head, file));
  // Format, length of the name, the name and a date precede the content.
  const start = await body.exactly(2);
  const rest = start === undefined ? undefined : await body.exactly(start[1]! + 4);
  if (rest === undefined) throw truncated(file);
  for (;;) {
    const piece = await body.some(Number.MAX_SAFE_INTEGER);
    if (piece.length === 0) return;
    yield piece;
  }
}

async function* decompress(body: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  const source = new ByteReader(body);
  const [algorithm] = await source.some(1);
  const inflate = algorithm === 1 ? createInflateRaw() : algorithm === 2 ? createInflate() : undefined;
  if (inflate === undefined) throw otherEncryption(file, 'content that is compressed with bzip2');
  // One listener for all pieces: one for each would grow with the file.
  let resume = () => {};
  inflate.once('close', () => resume());
  const feeding = (async () => {
    for (;;) {
      const piece = await source.some(Number.MAX_SAFE_INTEGER);
      if (piece.length === 0 || inflate.destroyed) break;
      await new Promise<void>((resolve) => {
        resume = resolve;
        inflate.write(piece, () => resolve());
      });
    }
    inflate.end();
  })();
  feeding.catch((error: unknown) =>
    inflate.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    const inner = new ByteReader(inflate as AsyncIterable<Buffer>);
    const head = await readHead(inner, file);
    if (head?.tag !== LITERAL) throw damaged(file, 'it does not contain a file');
    yield* readLiteral(inner, head, file);
    await checkEnd(inner, file);
    await feeding;
  } catch (error) {
    if (systemErrorCode(error)?.startsWith('Z_') === true)
      throw damaged(file, 'its compressed content is damaged', error);
    throw error;
  } finally {
    inflate.destroy();
    await feeding.catch(() => undefined);
  }
}

function otherEncryption(file: string, what: string): IdkitError {
  return new IdkitError('IDKIT_VERSION', `${file}: idkit cannot decrypt ${what}`, {
    hints: [`decrypt it with GnuPG: gpg --decrypt ${file}`],
  });
}
