import { createDecipheriv } from 'node:crypto';
import { IdkitError, type Secret } from '../../core/index.ts';
import { renderPacket } from './packet-stream.ts';
import { findPassphraseKey, type SessionKey } from './passphrase-key.ts';
import type { PrivateKeys } from './public-keys.ts';
import type { SetEncryption } from './set-encryption.ts';

const PUBLIC_KEY_SESSION = 1;
/** The length of a packet whose passphrase is the only secret. Longer packets contain an encrypted session key. */
const SPECIFIER_BYTES = 13;
const ALGORITHMS: Readonly<Record<number, SessionKey['algorithm']>> = {
  7: 'aes128',
  8: 'aes192',
  9: 'aes256',
};
const KEY_BYTES: Readonly<Record<SessionKey['algorithm'], number>> = { aes128: 16, aes192: 24, aes256: 32 };

/** The bodies of the session key packets of a message. Any of them leads to its session key. */
export interface SessionPackets {
  passphrase: readonly Uint8Array[];
  publicKey: readonly Uint8Array[];
}

/** The secrets that can decrypt a set. */
export interface SetSecrets {
  passphrase?: Secret | undefined;
  privateKeys?: PrivateKeys | undefined;
  /** The encryption of a set that this process has written. */
  encryption?: SetEncryption | undefined;
}

/** Finds session keys. The files of a set share one, so each key is derived or decrypted only once. */
export class SetKeys {
  readonly #secrets: SetSecrets;
  readonly #found = new Map<string, Promise<SessionKey | undefined>>();

  constructor(secrets: SetSecrets) {
    this.#secrets = secrets;
  }

  /**
   * Returns undefined if no secret of the required kind was given.
   *
   * @param file the name of the encrypted file, for errors
   * @throws IDKIT_CREDENTIALS if the secrets do not decrypt a session key
   */
  async findSessionKey(packets: SessionPackets, file: string): Promise<SessionKey | undefined> {
    const { passphrase, privateKeys, encryption } = this.#secrets;
    if (encryption !== undefined) return encryption.key;
    const usable = {
      passphrase: passphrase === undefined ? [] : packets.passphrase,
      publicKey: privateKeys === undefined ? [] : packets.publicKey,
    };
    if (usable.passphrase.length + usable.publicKey.length === 0) return undefined;
    const id = Buffer.concat([...packets.passphrase, ...packets.publicKey]).toString('base64');
    const known = this.#found.get(id) ?? this.#search(usable);
    this.#found.set(id, known);
    const key = await known;
    if (key !== undefined) return key;
    throw new IdkitError('IDKIT_CREDENTIALS', `${file}: ${this.#whyNot(packets)}`, {
      hints: ['provide the passphrase or the private key with which the set was created'],
    });
  }

  async #search(packets: SessionPackets): Promise<SessionKey | undefined> {
    const { passphrase, privateKeys } = this.#secrets;
    for (const body of packets.passphrase) {
      const key = passphrase === undefined ? undefined : decryptWithPassphrase(body, passphrase);
      if (key !== undefined) return key;
    }
    for (const body of packets.publicKey) {
      const key = await privateKeys?.findSessionKey(renderPacket(PUBLIC_KEY_SESSION, body));
      if (key !== undefined) return key;
    }
    return undefined;
  }

  #whyNot(packets: SessionPackets): string {
    if (packets.publicKey.length === 0 || this.#secrets.privateKeys === undefined)
      return 'this passphrase does not decrypt it';
    return `it is encrypted to ${listKeyIds(packets)}, not to the key ${this.#secrets.privateKeys.fingerprints.join(', ')}`;
  }
}

/** Lists the ids of the public keys that can decrypt a message, for messages. */
export function listKeyIds({ publicKey }: SessionPackets): string {
  const ids = publicKey.map((body) => Buffer.from(body).toString('hex', 1, 9).toUpperCase());
  return `the public ${ids.length === 1 ? 'key' : 'keys'} ${ids.join(', ')}`;
}

/** Derives the session key from the passphrase, or decrypts it with the derived key (RFC 9580 §5.3.1). */
function decryptWithPassphrase(body: Uint8Array, passphrase: Secret): SessionKey | undefined {
  const derived = findPassphraseKey(body.subarray(0, SPECIFIER_BYTES), passphrase);
  if (derived === undefined || body.length === SPECIFIER_BYTES) return derived;
  const cipher = createDecipheriv(cipherName(derived), derived.data, Buffer.alloc(16));
  const [number, ...data] = cipher.update(body.subarray(SPECIFIER_BYTES));
  const algorithm = ALGORITHMS[number ?? 0];
  if (algorithm === undefined || data.length !== KEY_BYTES[algorithm]) return undefined;
  return { algorithm, data: Uint8Array.from(data) };
}

/** Returns the name of the cipher in CFB mode, as Node.js writes it. */
export function cipherName({ algorithm }: SessionKey): string {
  return `${algorithm.replace('aes', 'aes-')}-cfb`;
}
