import type { MessageOpened } from '../contract.ts';
import { SET_FILES } from '../contract.ts';

/** What the packets of an OpenPGP message tell before it is opened. */
export interface MessageShape {
  outcome: 'message';
  /** idkit has every cipher that the message names. */
  opensHere: boolean;
  /** The cipher that it has not, else the one of the message. */
  cipher: string;
}

/** RFC 9580 §9.3, with the names that people know. */
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
/** What OpenPGP.js opens; Camellia fails in it, whatever the passphrase (disaster-recovery facts §3). */
const OPENED_HERE = [2, 3, 4, 7, 8, 9, 10];

/** gpg and idkit write one. */
const MOST_SESSION_KEYS = 16;
/** KiB × passes: both settings that RFC 9106 §4 recommends are below it. */
const DEAREST_ARGON2 = 2 * 1024 * 1024;
/** Bytes of a packet's body: as far as Argon2's exponent of memory. */
const LOOKED_AT = 32;

const PUBLIC_KEY_SESSION = 1;
const SYMMETRIC_SESSION = 3;
const ENCRYPTED_UNPROTECTED = 9;
const MARKER = 10;
const ENCRYPTED_PROTECTED = 18;
const ENCRYPTED_AEAD = 20;
const PADDING = 21;

/**
 * Reads the outer packets of a message: session keys by passphrase, then one packet of encrypted data with
 * integrity protection that fills the rest. Only lengths and versions are read, and what opening would cost:
 * each session key takes a tenth of a second, and Argon2 whatever it says.
 */
export function readMessageShape(
  message: Uint8Array,
  file: string,
): MessageShape | Exclude<MessageOpened, { outcome: 'opened' }> {
  const ciphers: number[] = [];
  let at = 0;
  let publicKey = false;
  while (at < message.length) {
    const packet = readPacket(message, at);
    if (packet === undefined) return damagedBy(at === 0 ? 'it is no OpenPGP message' : 'it is cut off');
    at = packet.end;
    switch (packet.tag) {
      case SYMMETRIC_SESSION:
        ciphers.push(cipherOf(packet.first));
        if (ciphers.length > MOST_SESSION_KEYS)
          return damagedBy(`it names more than ${MOST_SESSION_KEYS} passphrases`);
        if (argon2Cost(packet.first) > DEAREST_ARGON2)
          return damagedBy('its passphrase is hashed with more than 2 GiB of memory × passes');
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
        return shapeOf(message, file, at, ciphers, publicKey);
      default:
        return damagedBy('it is no encrypted OpenPGP message');
    }
  }
  return damagedBy(at === 0 ? 'it is empty' : 'it is cut off');
}

function shapeOf(
  message: Uint8Array,
  file: string,
  end: number,
  ciphers: readonly number[],
  publicKey: boolean,
) {
  if (end < message.length) return damagedBy('something follows its end');
  if (ciphers.length === 0)
    return publicKey
      ? ({
          outcome: 'unsupported cipher',
          cipher: 'a message to a public key',
          command: gpgCommand(file),
        } as const)
      : damagedBy('it names no passphrase');
  const strange = ciphers.find((cipher) => !OPENED_HERE.includes(cipher));
  const cipher = strange ?? ciphers[0]!;
  return {
    outcome: 'message',
    opensHere: strange === undefined,
    cipher: CIPHERS[cipher] ?? `the cipher number ${cipher}`,
  } as const;
}

/** The cipher of a session key packet: after the version, and in version 6 after the packet's own length. */
function cipherOf(first: Uint8Array): number {
  return (first[0] === 6 ? first[2] : first[1]) ?? 0;
}

/**
 * What Argon2 takes for a session key packet, in KiB × passes; 0 of any other way to hash a passphrase. In version 4
 * the way follows the cipher, in version 6 there are a length, the cipher, the mode of encryption and a length before
 * it (RFC 9580 §5.3, §3.7.1.4: salt of 16 bytes, passes, lanes, exponent of the memory).
 */
function argon2Cost(first: Uint8Array): number {
  const way = first[0] === 4 ? 2 : 5;
  if (first[way] !== 4) return 0;
  return (first[way + 17] ?? 0) * 2 ** (first[way + 19] ?? 0);
}

/** What opens a message by hand, without idkit. */
export function gpgCommand(file: string): string {
  return file === SET_FILES.environment ? `gpg --decrypt --output .env ${file}` : `gpg --decrypt ${file}`;
}

function damagedBy(why: string) {
  return { outcome: 'damaged', why } as const;
}

interface Packet {
  tag: number;
  /** The first bytes of its body. */
  first: Uint8Array;
  end: number;
}

/** One packet (RFC 9580 §4.2); undefined where it is none or is longer than what is there. */
function readPacket(message: Uint8Array, start: number): Packet | undefined {
  const head = message[start]!;
  if ((head & 0x80) === 0) return undefined;
  const modern = (head & 0x40) !== 0;
  const tag = modern ? head & 0x3f : (head >> 2) & 0x0f;
  let at = start + 1;
  let first: Uint8Array | undefined;
  for (;;) {
    const length = modern ? modernLength(message, at) : oldLength(message, at, head & 3);
    if (length === undefined || length.body + length.bytes > message.length) return undefined;
    first ??= message.subarray(length.body, length.body + Math.min(length.bytes, LOOKED_AT));
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
  if (five === undefined) return undefined;
  return { body: at + 5, bytes: ((two * 256 + three!) * 256 + four!) * 256 + five, partial: false };
}

function oldLength(message: Uint8Array, at: number, kind: number): Length | undefined {
  // Of no stated length: to the end of the message.
  if (kind === 3) return { body: at, bytes: message.length - at, partial: false };
  const octets = 2 ** kind;
  if (at + octets > message.length) return undefined;
  const bytes = message.subarray(at, at + octets).reduce((sum, byte) => sum * 256 + byte, 0);
  return { body: at + octets, bytes, partial: false };
}
