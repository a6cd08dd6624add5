import type { Random, Secret } from '../../core/index.ts';
import { makePassphraseKey, type SessionKey } from './passphrase-key.ts';
import type { PublicKeys } from './public-keys.ts';

const KEY_BYTES = 32;

/** How the files of a new set are encrypted. All of them share one session key. */
export interface SetEncryption {
  to: 'passphrase' | 'keys';
  /** The fingerprints of the public keys. Empty for a passphrase. */
  fingerprints: readonly string[];
  /** The session key packets with which every file begins. */
  packets: Buffer;
  key: SessionKey;
}

/** Encrypts the files of a set with its passphrase, which is hashed once for the set. */
export function encryptToPassphrase(passphrase: Secret, random: Random): SetEncryption {
  const { packet, key } = makePassphraseKey(passphrase, random);
  return { to: 'passphrase', fingerprints: [], packets: Buffer.from(packet), key };
}

/**
 * Encrypts the files of a set to public keys. The session key is in the memory of this process alone, so the machine
 * cannot decrypt the set after the process has ended.
 */
export async function encryptToKeys(keys: PublicKeys, random: Random): Promise<SetEncryption> {
  const key: SessionKey = { algorithm: 'aes256', data: random.bytes(KEY_BYTES) };
  const packets = Buffer.from(await keys.encryptSessionKey(key));
  return { to: 'keys', fingerprints: keys.fingerprints, packets, key };
}
