import type { PrivateKey, PublicKey } from 'openpgp';
import { IdkitError, type Secret } from '../../core/index.ts';
import { renderPacket } from './packet-stream.ts';
import type { SessionKey } from './passphrase-key.ts';

const library = () => import('openpgp');

/** The only version of keys that GnuPG 2.2 reads. */
const KEY_VERSION = 4;

/** A file with OpenPGP keys, as `gpg --export` writes it, with or without `--armor`. */
export interface KeyFile {
  /** The name for messages. */
  name: string;
  bytes: Uint8Array;
}

/** The public keys that a set is encrypted to. The owner of any of them can decrypt it. */
export interface PublicKeys {
  /** In upper-case hex. */
  fingerprints: readonly string[];
  /** Returns one session key packet for each key. */
  encryptSessionKey(key: SessionKey): Promise<Uint8Array>;
}

/** Private keys that decrypt sets. */
export interface PrivateKeys {
  /** In upper-case hex. */
  fingerprints: readonly string[];
  /** Returns the session key from a packet for one of these keys, or undefined if it is for other keys. */
  findSessionKey(packet: Uint8Array): Promise<SessionKey | undefined>;
}

/**
 * Reads the public keys that sets are encrypted to, and checks that each one can be used now.
 *
 * @throws IDKIT_SETTING for a file without keys, a private key, an expired, revoked or signing key, and a key that
 *   GnuPG 2.2 does not read
 */
export async function readPublicKeys(files: readonly KeyFile[], now: Date): Promise<PublicKeys> {
  const { encryptSessionKey } = await library();
  const keys: PublicKey[] = [];
  for (const file of files) {
    const found = await readKeyFile(file);
    for (const key of found) await checkPublicKey(file.name, key, validTime(found, now));
    keys.push(...(found as PublicKey[]));
  }
  const fingerprints = keys.map((key) => key.getFingerprint().toUpperCase());
  return {
    fingerprints: [...new Set(fingerprints)],
    encryptSessionKey: async ({ algorithm, data }) =>
      encryptSessionKey({
        data,
        algorithm,
        encryptionKeys: keys,
        format: 'binary',
        date: validTime(keys, now),
      }),
  };
}

/** Returns the time for which keys are checked. A clock that is behind must not make a new key invalid. */
function validTime(keys: readonly (PublicKey | PrivateKey)[], now: Date): Date {
  return new Date(Math.max(now.getTime(), ...keys.map((key) => key.getCreationTime().getTime())));
}

async function checkPublicKey(name: string, key: PublicKey | PrivateKey, now: Date): Promise<void> {
  const refuse = (why: string, hints: readonly string[] = []) =>
    new IdkitError('IDKIT_SETTING', `backup.encryptTo: ${name} ${why}`, { hints });
  if (key.isPrivate())
    throw refuse('contains a private key, but this machine must only have the public key', [
      'export the public key: gpg --armor --export FINGERPRINT',
      'keep the private key on another machine, and delete it from this one',
    ]);
  if (key.keyPacket.version !== KEY_VERSION)
    throw refuse(`contains a key of version ${key.keyPacket.version}, which GnuPG 2.2 does not read`, [
      'create a key of version 4: gpg --quick-generate-key NAME rsa3072 encr never',
    ]);
  try {
    await key.getEncryptionKey(undefined, now);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refuse(`contains the key ${key.getFingerprint().toUpperCase()}, which cannot encrypt now: ${why}`, [
      'a key that encrypts must not be expired or revoked; gpg --list-keys shows its dates and uses',
    ]);
  }
}

/**
 * Reads private keys and decrypts those that have a passphrase.
 *
 * @throws IDKIT_SETTING for a file without private keys, IDKIT_CREDENTIALS for a wrong or missing passphrase
 */
export async function readPrivateKeyFile(
  file: KeyFile,
  passphrase: Secret | undefined,
): Promise<PrivateKeys> {
  const { decryptKey } = await library();
  const keys: PrivateKey[] = [];
  for (const key of await readKeyFile(file)) {
    if (!key.isPrivate())
      throw new IdkitError('IDKIT_SETTING', `${file.name} contains a public key, which cannot decrypt`, {
        hints: ['export the private key: gpg --armor --export-secret-keys FINGERPRINT'],
      });
    if (key.isDecrypted()) keys.push(key);
    else if (passphrase === undefined)
      throw new IdkitError(
        'IDKIT_CREDENTIALS',
        `the key in ${file.name} has a passphrase, which is missing`,
        {
          hints: [
            'set IDKIT_BACKUP_KEY_PASSPHRASE, IDKIT_BACKUP_KEY_PASSPHRASE_FILE or IDKIT_BACKUP_KEY_PASSPHRASE_COMMAND',
          ],
        },
      );
    else {
      try {
        keys.push(await decryptKey({ privateKey: key, passphrase: passphrase.reveal() }));
      } catch (error) {
        throw new IdkitError(
          'IDKIT_CREDENTIALS',
          `this passphrase does not decrypt the key in ${file.name}`,
          {
            cause: error,
          },
        );
      }
    }
  }
  return {
    fingerprints: keys.map((key) => key.getFingerprint().toUpperCase()),
    findSessionKey: (packet) => findSessionKey(packet, keys),
  };
}

/** An empty packet of encrypted data. The library reads session keys only from a message that has one. */
const NO_DATA = renderPacket(18, Buffer.alloc(24, 1));

async function findSessionKey(
  packet: Uint8Array,
  decryptionKeys: PrivateKey[],
): Promise<SessionKey | undefined> {
  const { decryptSessionKeys, readMessage } = await library();
  try {
    const message = await readMessage({ binaryMessage: Buffer.concat([packet, NO_DATA]) });
    const [found] = await decryptSessionKeys({ message, decryptionKeys });
    const algorithm = found?.algorithm;
    if (found === undefined || !isSupported(algorithm)) return undefined;
    return { algorithm, data: found.data };
  } catch {
    // The library throws if the packet is for other keys.
    return undefined;
  }
}

function isSupported(algorithm: string | null | undefined): algorithm is SessionKey['algorithm'] {
  return algorithm === 'aes128' || algorithm === 'aes192' || algorithm === 'aes256';
}

async function readKeyFile({ name, bytes }: KeyFile): Promise<readonly (PublicKey | PrivateKey)[]> {
  const { readKeys } = await library();
  const text = Buffer.from(bytes).toString('latin1');
  try {
    const keys = text.trimStart().startsWith('-----BEGIN PGP')
      ? await readKeys({ armoredKeys: text })
      : await readKeys({ binaryKeys: bytes });
    if (keys.length > 0) return keys as (PublicKey | PrivateKey)[];
  } catch (error) {
    throw noKeys(name, error);
  }
  throw noKeys(name);
}

function noKeys(name: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_SETTING', `${name} is not a file with OpenPGP keys`, {
    ...(cause === undefined ? {} : { cause }),
    hints: ['gpg --armor --export FINGERPRINT writes such a file'],
  });
}
