import { IdkitError, type Secret } from '../core/index.ts';
import type { EnvironmentOpened } from './contract.ts';
import { SET_FILES } from './contract.ts';
import { damaged } from './faults.ts';
import { type MessageShape, readMessageShape } from './openpgp-shape.ts';

const FILE = SET_FILES.environment;

/** An environment file is a few kilobytes; a message is opened as a whole. */
export const LONGEST_MESSAGE = 64 * 1024 * 1024;

/** The library takes 30 ms to load, which only these two calls should pay. */
const library = () => import('openpgp');

/** What opens a message by hand, without idkit. */
const GPG_COMMAND = `gpg --decrypt --output .env ${FILE}`;

/**
 * Encrypts the environment file so that `gpg --decrypt` of GnuPG 2.2 and 2.4 opens it. Every choice is written
 * out: what the library prefers today or tomorrow may be newer than gpg (disaster-recovery facts §3). AES-256 with
 * integrity protection of RFC 4880 §5.13, the passphrase hashed over 65,011,712 bytes (iterated and salted).
 */
export async function encryptEnvironment(bytes: Uint8Array, passphrase: Secret): Promise<Uint8Array> {
  const { createMessage, encrypt, enums } = await library();
  return encrypt({
    message: await createMessage({ binary: bytes, format: 'binary' }),
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
 * Opens what `encryptEnvironment` or `gpg --symmetric` made. Nothing is handed out before the message has proven
 * whole. Any passphrase of a message with several opens it.
 */
export async function decryptEnvironment(
  message: Uint8Array,
  passphrase: Secret,
): Promise<EnvironmentOpened> {
  const binary = await withoutArmor(message);
  if (binary === undefined) return BAD_ARMOR;
  const shape = readMessageShape(binary);
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
        maxDecompressedMessageSize: LONGEST_MESSAGE,
      },
    });
    return { outcome: 'opened', bytes: new Uint8Array(opened.data as Uint8Array) };
  } catch {
    // Tampering and a wrong passphrase look alike here; the checksum has already told damage.
    return shape.opensHere ? { outcome: 'wrong passphrase' } : unsupported(shape);
  }
}

/** What can be told of a message without its passphrase. */
export async function inspectEnvironment(
  message: Uint8Array,
): Promise<{ outcome: 'message' } | Exclude<EnvironmentOpened, { outcome: 'opened' }>> {
  const binary = await withoutArmor(message);
  return binary === undefined ? BAD_ARMOR : readMessageShape(binary);
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

function unsupported(shape: MessageShape): EnvironmentOpened {
  return { outcome: 'unsupported cipher', cipher: shape.cipher, command: GPG_COMMAND };
}

async function collect(data: unknown): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return data;
  const parts: Uint8Array[] = [];
  for await (const part of data as AsyncIterable<Uint8Array>) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/** What an environment that did not open means to the operator. */
export function environmentFault(opened: Exclude<EnvironmentOpened, { outcome: 'opened' }>): IdkitError {
  switch (opened.outcome) {
    case 'wrong passphrase':
      return new IdkitError('IDKIT_CREDENTIALS', `${FILE}: it does not open with this passphrase`, {
        hints: ['give the passphrase that the set was made with'],
      });
    case 'damaged':
      return damaged(FILE, opened.why);
    case 'unsupported cipher':
      return new IdkitError('IDKIT_VERSION', `${FILE}: idkit cannot open ${opened.cipher}`, {
        hints: [`open it by hand: ${opened.command}`],
      });
  }
}
