import type { MessageOpened } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

/** Facts about an OpenPGP message that are readable without its passphrase. */
export interface MessageShape {
  outcome: 'message';
  /** The bodies of the session key packets for passphrases, each cut after 32 bytes. */
  sessionKeys: readonly Uint8Array[];
  /** True if idkit supports every cipher of the message. */
  opensHere: boolean;
  /** The unsupported cipher, or the message's cipher if idkit supports all of them. */
  cipher: string;
}

/** The ciphers of RFC 9580 §9.3 with their usual names. */
const CIPHERS: Record<number, string> = {
  1: 'IDEA',
  2: '3DES',
  3: 'CAST5',
  4: 'Blowfish',
  7: 'AES-128',
  8: 'AES-192',
  9: 'AES-256',
  10: 'Twofish',
  11: 'Camellia-128',
  12: 'Camellia-192',
  13: 'Camellia-256',
};
/** The ciphers that OpenPGP.js decrypts. It fails with Camellia, even with the correct passphrase. */
const OPENED_HERE = [2, 3, 4, 7, 8, 9, 10];

/** Maximum number of session keys. gpg and idkit write one. */
const MOST_SESSION_KEYS = 16;
/** Maximum cost of Argon2 in KiB × passes. Both settings that RFC 9106 §4 recommends are below it. */
const DEAREST_ARGON2 = 2 * 1024 * 1024;
/** Number of bytes that are read from a packet's body. The last one is Argon2's memory exponent. */
const HEAD_BYTES = 32;

const PUBLIC_KEY_SESSION = 1;
const SYMMETRIC_SESSION = 3;
const ENCRYPTED_UNPROTECTED = 9;
const MARKER = 10;
const ENCRYPTED_PROTECTED = 18;
const ENCRYPTED_AEAD = 20;
const PADDING = 21;

/**
 * Reads the outer packets of a message: session keys for passphrases, then one packet of encrypted data with integrity
 * protection that extends to the end. Only lengths, versions and the cost of decryption are read. Decrypting a session
 * key takes a tenth of a second, or longer if its packet sets a higher cost for Argon2.
 */
export function readMessageShape(
  message: Uint8Array,
  file: string,
): MessageShape | Exclude<MessageOpened, { outcome: 'opened' }> {
  const sessionKeys: Uint8Array[] = [];
  let at = 0;
  let publicKey = false;
  while (at < message.length) {
    const packet = readPacket(message, at);
    if (packet === undefined) return damagedBy(at === 0 ? 'it is not an OpenPGP message' : 'it is truncated');
    at = packet.end;
    switch (packet.tag) {
      case SYMMETRIC_SESSION:
        sessionKeys.push(packet.first);
        if (sessionKeys.length > MOST_SESSION_KEYS)
          return damagedBy(`it has more than ${MOST_SESSION_KEYS} passphrases`);
        if (argon2Cost(packet.first) > DEAREST_ARGON2)
          return damagedBy('hashing its passphrase would need more than 2 GiB of memory × passes');
        break;
      case PUBLIC_KEY_SESSION:
        publicKey = true;
        break;
      case MARKER:
      case PADDING:
        break;
      case ENCRYPTED_UNPROTECTED:
        return damagedBy('it is encrypted without integrity protection');
      case ENCRYPTED_PROTECTED:
      case ENCRYPTED_AEAD:
        return shapeOf(message, file, at, sessionKeys, publicKey);
      default:
        return damagedBy('it is not an encrypted OpenPGP message');
    }
  }
  return damagedBy(at === 0 ? 'it is empty' : 'it is truncated');
}

function shapeOf(
  message: Uint8Array,
  file: string,
  end: number,
  sessionKeys: readonly Uint8Array[],
  publicKey: boolean,
) {
  if (end < message.length) return damagedBy('there is data after its end');
  if (sessionKeys.length === 0)
    return publicKey
      ? ({
          outcome: 'unsupported cipher',
          cipher: 'a message that is encrypted for a public key',
          command: gpgCommand(file),
        } as const)
      : damagedBy('it is not encrypted with a passphrase');
  const ciphers = sessionKeys.map(cipherOf);
  const unsupported = ciphers.find((cipher) => !OPENED_HERE.includes(cipher));
  const cipher = unsupported ?? ciphers[0] ?? 0;
  return {
    outcome: 'message',
    sessionKeys,
    opensHere: unsupported === undefined,
    cipher: CIPHERS[cipher] ?? `the cipher number ${cipher}`,
  } as const;
}

/** Returns the number of the cipher. It follows the version of a session key packet, in version 6 after a length. */
function cipherOf(first: Uint8Array): number {
  return (first[0] === 6 ? first[2] : first[1]) ?? 0;
}

/**
 * Returns the cost of Argon2 for a session key packet in KiB × passes, or 0 if the passphrase is hashed otherwise. The
 * type of the hash follows the cipher in version 4. In version 6 it follows a length, the cipher, the mode and a length
 * (RFC 9580 §5.3, §3.7.1.4: salt of 16 bytes, passes, lanes, exponent of the memory).
 */
function argon2Cost(first: Uint8Array): number {
  const type = first[0] === 4 ? 2 : 5;
  if (first[type] !== 4) return 0;
  return (first[type + 17] ?? 0) * 2 ** (first[type + 19] ?? 0);
}

/** Returns the command that decrypts a message without idkit. */
export function gpgCommand(file: string): string {
  return file === SET_FILES.environment ? `gpg --decrypt --output .env ${file}` : `gpg --decrypt ${file}`;
}

function damagedBy(why: string) {
  return { outcome: 'damaged', why } as const;
}

interface Packet {
  tag: number;
  /** The first bytes of the packet's body. */
  first: Uint8Array;
  end: number;
}

/** Reads one packet (RFC 9580 §4.2). Returns undefined if it is malformed or truncated. */
function readPacket(message: Uint8Array, start: number): Packet | undefined {
  const head = message[start] ?? 0;
  if ((head & 0x80) === 0) return undefined;
  const modern = (head & 0x40) !== 0;
  const tag = modern ? head & 0x3f : (head >> 2) & 0x0f;
  let at = start + 1;
  let first: Uint8Array | undefined;
  for (;;) {
    const length = modern ? modernLength(message, at) : oldLength(message, at, head & 3);
    if (length === undefined || length.body + length.bytes > message.length) return undefined;
    first ??= message.subarray(length.body, length.body + Math.min(length.bytes, HEAD_BYTES));
    at = length.body + length.bytes;
    if (!length.partial) return { tag, first, end: at };
  }
}

interface Length {
  body: number;
  bytes: number;
  partial: boolean;
}

function modernLength(message: Uint8Array, at: number): Length | undefined {
  const [one, two, three, four, five] = message.subarray(at, at + 5);
  if (one === undefined) return undefined;
  if (one < 192) return { body: at + 1, bytes: one, partial: false };
  if (one >= 224 && one < 255) return { body: at + 1, bytes: 2 ** (one & 0x1f), partial: true };
  if (two === undefined) return undefined;
  if (one < 224) return { body: at + 2, bytes: (one - 192) * 256 + two + 192, partial: false };
  const octets = [two, three, four, five];
  if (octets.includes(undefined)) return undefined;
  return {
    body: at + 5,
    bytes: octets.reduce<number>((sum, octet) => sum * 256 + (octet ?? 0), 0),
    partial: false,
  };
}

function oldLength(message: Uint8Array, at: number, kind: number): Length | undefined {
  // A packet without a length extends to the end of the message.
  if (kind === 3) return { body: at, bytes: message.length - at, partial: false };
  const octets = 2 ** kind;
  if (at + octets > message.length) return undefined;
  const bytes = message.subarray(at, at + octets).reduce((sum, byte) => sum * 256 + byte, 0);
  return { body: at + octets, bytes, partial: false };
}
