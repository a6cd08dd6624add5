import { type Secret, systemRandom } from '../../core/index.ts';
import type { MessageOpened } from '../contract.ts';
import { gpgCommand, type MessageShape, readMessageShape } from './packets.ts';
import { findPassphraseKey, makePassphraseKey } from './passphrase-key.ts';

/** Loading the library takes 30 ms, so only the calls that need it load it. */
const library = () => import('openpgp');

/**
 * Encrypts bytes so that `gpg --decrypt` of GnuPG 2.2 and 2.4 can read them. Every choice is explicit, because a
 * default of the library may be newer than gpg. The cipher is AES-256 with the integrity protection of RFC 4880 §5.13.
 * The passphrase is hashed over 65,011,712 bytes (iterated and salted). `filename` is encrypted too; gpg does not show
 * it.
 */
export async function encryptMessage(
  bytes: Uint8Array,
  passphrase: Secret,
  filename = '',
): Promise<Uint8Array> {
  const { createMessage, encrypt, enums } = await library();
  const { packet, key } = makePassphraseKey(passphrase, systemRandom);
  const encrypted = await encrypt({
    message: await createMessage({ binary: bytes, format: 'binary', filename }),
    sessionKey: key,
    format: 'binary',
    config: { aeadProtect: false, preferredCompressionAlgorithm: enums.compression.uncompressed },
  });
  return Buffer.concat([packet, encrypted]);
}

/**
 * Decrypts a message of `encryptMessage` or `gpg --symmetric`. Returns bytes only if the integrity of the whole message
 * is verified. If a message has several passphrases, each of them works.
 *
 * @param file the name of the message's file, for errors
 * @param maxBytes the limit of the decompressed content
 */
export async function openMessage(
  message: Uint8Array,
  passphrase: Secret,
  file: string,
  maxBytes: number,
): Promise<MessageOpened> {
  const binary = await withoutArmor(message);
  if (binary === undefined) return BAD_ARMOR;
  const shape = readMessageShape(binary, file);
  if (shape.outcome !== 'message') return shape;
  const { readMessage, decrypt } = await library();
  const keys = shape.sessionKeys.map((body) => findPassphraseKey(body, passphrase));
  const sessionKeys = keys.filter((key) => key !== undefined);
  try {
    const opened = await decrypt({
      message: await readMessage({ binaryMessage: binary }),
      ...(sessionKeys.length === keys.length ? { sessionKeys } : { passwords: [passphrase.reveal()] }),
      format: 'binary',
      config: {
        allowUnauthenticatedMessages: false,
        allowUnauthenticatedStream: false,
        maxDecompressedMessageSize: maxBytes,
      },
    });
    const filename = opened.filename ?? '';
    return { outcome: 'opened', bytes: await collect(opened.data), filename };
  } catch {
    // A modified message and a wrong passphrase have the same result here. Damage was already ruled out by the
    // checksum.
    return shape.opensHere ? { outcome: 'wrong passphrase' } : unsupported(shape, file);
  }
}

/** Checks the parts of a message that are readable without its passphrase. */
export async function inspectMessage(
  message: Uint8Array,
  file: string,
): Promise<{ outcome: 'message' } | Exclude<MessageOpened, { outcome: 'opened' }>> {
  const binary = await withoutArmor(message);
  return binary === undefined ? BAD_ARMOR : readMessageShape(binary, file);
}

const BAD_ARMOR = { outcome: 'damaged', why: 'its armor is malformed' } as const;

/** Decodes the text form of `gpg --armor`. Returns undefined if it is malformed. */
async function withoutArmor(message: Uint8Array): Promise<Uint8Array | undefined> {
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (!text.toString('latin1', 0, 64).trimStart().startsWith('-----BEGIN PGP MESSAGE')) return message;
  const { unarmor } = await library();
  try {
    return await collect((await unarmor(text.toString('latin1'))).data);
  } catch {
    return undefined;
  }
}

function unsupported(shape: MessageShape, file: string): MessageOpened {
  return { outcome: 'unsupported cipher', cipher: shape.cipher, command: gpgCommand(file) };
}

async function collect(data: unknown): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return data;
  const parts: Uint8Array[] = [];
  if (isStream(data)) for await (const part of data) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

function isStream(data: unknown): data is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in Object(data);
}
