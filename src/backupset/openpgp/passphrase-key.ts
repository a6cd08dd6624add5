import { createHash } from 'node:crypto';
import type { Random, Secret } from '../../core/index.ts';

// Derives the key of a message from its passphrase. OpenPGP.js would write the whole input of the hash into memory
// twice, which is 130 MB for each message.

/** A session key in the form that OpenPGP.js accepts. */
export interface SessionKey {
  data: Uint8Array;
  algorithm: 'aes128' | 'aes192' | 'aes256';
}

/** The ciphers whose keys are derived here, by their numbers (RFC 9580 §9.3). */
const CIPHERS: Readonly<Record<number, { algorithm: SessionKey['algorithm']; bytes: number }>> = {
  7: { algorithm: 'aes128', bytes: 16 },
  8: { algorithm: 'aes192', bytes: 24 },
  9: { algorithm: 'aes256', bytes: 32 },
};
/** The hashes, by their numbers (RFC 9580 §9.5). gpg 2.2 uses SHA-1 by default. */
const HASHES: Readonly<Record<number, string>> = { 2: 'sha1', 8: 'sha256', 10: 'sha512' };

const AES_256 = 9;
const SHA_256 = 8;
/** The specifier of a hash over many repetitions of salt and passphrase (RFC 9580 §3.7.1.3). */
const ITERATED = 3;
const SALT_BYTES = 8;
/** Encodes 65,011,712 bytes, the largest count. */
const LARGEST_COUNT = 255;
/** The input of the hash is generated in pieces of about this many bytes. */
const PIECE_BYTES = 64 * 1024;

/** The parts of a session key packet of version 4 without an encrypted key: the passphrase is the only secret. */
interface Specifier {
  cipher: number;
  hash: number;
  salt: Uint8Array;
  count: number;
}

/** Creates a session key packet (RFC 9580 §5.3) with a new salt, and the key that it describes. */
export function makePassphraseKey(
  passphrase: Secret,
  random: Random,
): { packet: Uint8Array; key: SessionKey } {
  const salt = random.bytes(SALT_BYTES);
  const body = Buffer.concat([Buffer.of(4, AES_256, ITERATED, SHA_256), salt, Buffer.of(LARGEST_COUNT)]);
  const packet = Buffer.concat([Buffer.of(0xc3, body.length), body]);
  const key = deriveKey({ cipher: AES_256, hash: SHA_256, salt, count: LARGEST_COUNT }, passphrase);
  if (key === undefined) throw new Error('the cipher and the hash of a new message are supported');
  return { packet, key };
}

/**
 * Derives the key that a session key packet describes. Returns undefined if the packet has another form, such as one
 * with an encrypted key. OpenPGP.js then handles the message.
 *
 * @param body the body of the packet
 */
export function findPassphraseKey(body: Uint8Array, passphrase: Secret): SessionKey | undefined {
  const [version, cipher, kind, hash] = body;
  if (version !== 4 || kind !== ITERATED || body.length !== 5 + SALT_BYTES) return undefined;
  if (cipher === undefined || hash === undefined) return undefined;
  const salt = body.subarray(4, 4 + SALT_BYTES);
  return deriveKey({ cipher, hash, salt, count: body[4 + SALT_BYTES] ?? 0 }, passphrase);
}

function deriveKey({ cipher, hash, salt, count }: Specifier, passphrase: Secret): SessionKey | undefined {
  const form = CIPHERS[cipher];
  const name = HASHES[hash];
  if (form === undefined || name === undefined) return undefined;
  const unit = Buffer.concat([salt, Buffer.from(passphrase.reveal(), 'utf8')]);
  const piece = Buffer.concat(
    new Array<Buffer>(Math.max(1, Math.floor(PIECE_BYTES / unit.length))).fill(unit),
  );
  const bytes = Math.max(unit.length, (16 + (count & 15)) << ((count >> 4) + 6));
  const digests: Buffer[] = [];
  // The digest of SHA-1 is shorter than a key of AES-256. Each further digest begins with one more zero byte, and the key
  // is the beginning of all digests (RFC 9580 §3.7.1.1).
  for (let length = 0; length < form.bytes; length += digests.at(-1)!.length) {
    const hasher = createHash(name).update(Buffer.alloc(digests.length));
    for (let left = bytes; left > 0; left -= piece.length)
      hasher.update(left < piece.length ? piece.subarray(0, left) : piece);
    digests.push(hasher.digest());
  }
  return { algorithm: form.algorithm, data: Buffer.concat(digests).subarray(0, form.bytes) };
}
