import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Secret } from '../../core/index.ts';
import { constantTimeEqual } from './constant-time.ts';

// Symmetric OpenPGP messages (RFC 4880) of one fixed shape, so that `gpg --decrypt` opens them and no byte of a file is
// interpreted before its HMAC was checked. The passphrase has 256 bits of entropy, so one round of hashing is enough:
// the file of a second must not cost as much as a person's passphrase.

const AES_256 = 9;
const SHA_256 = 8;
/** Iterated and salted, with the smallest count, which is 1024 bytes (RFC 4880 §3.7.1.3). */
const ITERATED = 3;
const SMALLEST_COUNT = 0;
const HASHED_BYTES = 1024;
const SALT_BYTES = 8;
const BLOCK_BYTES = 16;
/** The packet with the SHA-1 of everything before it (RFC 4880 §5.14). */
const INTEGRITY_HEADER = Buffer.of(0xd3, 20);
const INTEGRITY_BYTES = 22;
const KEY_PACKET_BYTES = 15;
/** Tag, length of five bytes, version. */
const DATA_HEADER_BYTES = 7;
/** Tag, length of five bytes, format, empty name, date. */
const LITERAL_HEADER_BYTES = 12;

/** Encrypts bytes for `gpg --decrypt` with the passphrase. */
export function encrypt(bytes: Uint8Array, passphrase: Secret): Buffer {
  const salt = randomBytes(SALT_BYTES);
  const keyPacket = Buffer.concat([
    Buffer.of(0xc3, KEY_PACKET_BYTES - 2, 4, AES_256, ITERATED, SHA_256),
    salt,
    Buffer.of(SMALLEST_COUNT),
  ]);
  const random = randomBytes(BLOCK_BYTES);
  const literal = Buffer.alloc(LITERAL_HEADER_BYTES);
  literal[0] = 0xcb;
  literal[1] = 0xff;
  literal.writeUInt32BE(6 + bytes.length, 2);
  literal.write('b', 6, 'latin1');
  const prefix = Buffer.concat([random, random.subarray(-2), literal]);
  const sha1 = createHash('sha1').update(prefix).update(bytes).update(INTEGRITY_HEADER).digest();
  const cipher = createCipheriv('aes-256-cfb', deriveKey(salt, passphrase), Buffer.alloc(BLOCK_BYTES));
  const body = [
    cipher.update(prefix),
    cipher.update(bytes),
    cipher.update(INTEGRITY_HEADER),
    cipher.update(sha1),
  ];
  const length = 1 + prefix.length + bytes.length + INTEGRITY_BYTES;
  const dataHeader = Buffer.alloc(DATA_HEADER_BYTES);
  dataHeader[0] = 0xd2;
  dataHeader[1] = 0xff;
  dataHeader.writeUInt32BE(length, 2);
  dataHeader[6] = 1;
  return Buffer.concat([keyPacket, dataHeader, ...body]);
}

/** Decrypts a message of `encrypt`. Returns undefined if it has another shape or was changed. */
export function decrypt(message: Uint8Array, passphrase: Secret): Buffer | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const smallest =
    KEY_PACKET_BYTES + DATA_HEADER_BYTES + BLOCK_BYTES + 2 + LITERAL_HEADER_BYTES + INTEGRITY_BYTES;
  if (bytes.length < smallest) return undefined;
  const salt = bytes.subarray(6, 6 + SALT_BYTES);
  const decipher = createDecipheriv('aes-256-cfb', deriveKey(salt, passphrase), Buffer.alloc(BLOCK_BYTES));
  const plain = decipher.update(bytes.subarray(KEY_PACKET_BYTES + DATA_HEADER_BYTES));
  const sha1 = createHash('sha1').update(plain.subarray(0, -20)).digest();
  if (!constantTimeEqual(sha1, plain.subarray(-20))) return undefined;
  return plain.subarray(BLOCK_BYTES + 2 + LITERAL_HEADER_BYTES, -INTEGRITY_BYTES);
}

function deriveKey(salt: Uint8Array, passphrase: Secret): Buffer {
  const unit = Buffer.concat([salt, Buffer.from(passphrase.reveal(), 'utf8')]);
  const repeated = Buffer.alloc(Math.max(HASHED_BYTES, unit.length), unit);
  return createHash('sha256').update(repeated).digest();
}
