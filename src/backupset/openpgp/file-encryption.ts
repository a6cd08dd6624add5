import { createCipheriv, createHash } from 'node:crypto';
import type { Random } from '../../core/index.ts';
import { PacketWriter } from './packet-stream.ts';
import type { SetEncryption } from './set-encryption.ts';
import { cipherName } from './set-keys.ts';

// OpenPGP.js would hold a file of any size in memory, because it checks the integrity of a message before it passes on
// its content. So the files of a set are encrypted here, in the form of RFC 4880 §5.13 that GnuPG 2.2 decrypts.

const ENCRYPTED = 18;
const LITERAL = 11;
/** Tag and length of the packet that ends the content, followed by the hash of everything before. */
export const HASH_PACKET = Buffer.of(0xd3, 0x14);
export const BLOCK_BYTES = 16;

/** Encrypts a file chunk by chunk. Both methods return the encrypted bytes to write. */
export interface FileEncryption {
  update(chunk: Uint8Array): Buffer;
  end(): Buffer;
}

/**
 * Begins one encrypted file of a set. Every file begins with the session key packets of the set and a random prefix of
 * 16 bytes, so that equal content looks different in two files.
 *
 * @param filename the name inside the message, which is encrypted too
 */
export function encryptFile(
  { packets, key }: SetEncryption,
  filename: string,
  random: Random,
): FileEncryption {
  const cipher = createCipheriv(cipherName(key), key.data, Buffer.alloc(BLOCK_BYTES));
  const hash = createHash('sha1');
  let output: Buffer[] = [packets];
  const encrypted = new PacketWriter(ENCRYPTED, (bytes) => output.push(bytes));
  const protect = (bytes: Uint8Array) => {
    hash.update(bytes);
    encrypted.write(cipher.update(bytes));
  };
  const take = () => {
    const bytes = Buffer.concat(output);
    output = [];
    return bytes;
  };
  encrypted.write(Buffer.of(1));
  const prefix = Buffer.from(random.bytes(BLOCK_BYTES));
  protect(Buffer.concat([prefix, prefix.subarray(-2)]));
  const literal = new PacketWriter(LITERAL, protect);
  const name = Buffer.from(filename, 'utf8');
  // Binary content, its name, and no date.
  literal.write(Buffer.concat([Buffer.of(0x62, name.length), name, Buffer.alloc(4)]));
  return {
    update(chunk) {
      literal.write(chunk);
      return take();
    },
    end() {
      literal.end();
      protect(HASH_PACKET);
      encrypted.write(cipher.update(hash.digest()));
      encrypted.end();
      return take();
    },
  };
}
