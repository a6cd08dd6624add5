import type { Secret } from '../../core/index.ts';
import type { MessageOpened } from '../contract.ts';
import { gpgCommand, type MessageShape, readMessageShape } from './packets.ts';

/** The library takes 30 ms to load, which only these calls should pay. */
const library = () => import('openpgp');

/**
 * Encrypts so that `gpg --decrypt` of GnuPG 2.2 and 2.4 opens it. Every choice is written out: what the library
 * prefers today or tomorrow may be newer than gpg (disaster-recovery facts §3). AES-256 with integrity protection of
 * RFC 4880 §5.13, the passphrase hashed over 65,011,712 bytes (iterated and salted). `filename` lies inside what is
 * encrypted, and a person who opens the message by hand does not see it.
 */
export async function encryptMessage(
  bytes: Uint8Array,
  passphrase: Secret,
  filename = '',
): Promise<Uint8Array> {
  const { createMessage, encrypt, enums } = await library();
  return encrypt({
    message: await createMessage({ binary: bytes, format: 'binary', filename }),
    passwords: [passphrase.reveal()],
    format: 'binary',
    config: {
      preferredSymmetricAlgorithm: enums.symmetric.aes256,
      aeadProtect: false,
      s2kType: enums.s2k.iterated,
      s2kIterationCountByte: 255,
      preferredCompressionAlgorithm: enums.compression.uncompressed,
    },
  });
}

/**
 * Opens what `encryptMessage` or `gpg --symmetric` made. Nothing is handed out before the message has proven whole.
 * Any passphrase of a message with several opens it.
 *
 * @param file the set's file that the message is, for what is said about it
 * @param maxBytes what it may hold, unpacked
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
  try {
    const opened = await decrypt({
      message: await readMessage({ binaryMessage: binary }),
      passwords: [passphrase.reveal()],
      format: 'binary',
      config: {
        allowUnauthenticatedMessages: false,
        allowUnauthenticatedStream: false,
        maxDecompressedMessageSize: maxBytes,
      },
    });
    const filename = opened.filename ?? '';
    return { outcome: 'opened', bytes: new Uint8Array(opened.data as Uint8Array), filename };
  } catch {
    // Tampering and a wrong passphrase look alike here; damage is already found by the checksum.
    return shape.opensHere ? { outcome: 'wrong passphrase' } : unsupported(shape, file);
  }
}

/** What a message shows without its passphrase. */
export async function inspectMessage(
  message: Uint8Array,
  file: string,
): Promise<{ outcome: 'message' } | Exclude<MessageOpened, { outcome: 'opened' }>> {
  const binary = await withoutArmor(message);
  return binary === undefined ? BAD_ARMOR : readMessageShape(binary, file);
}

const BAD_ARMOR = { outcome: 'damaged', why: 'its armor does not hold' } as const;

/** The message's bytes, out of the text form that `gpg --armor` writes; undefined where that is broken. */
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
  for await (const part of data as AsyncIterable<Uint8Array>) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}
