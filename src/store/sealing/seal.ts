import { createCipheriv, createDecipheriv } from 'node:crypto';
import { IdkitError, type Random, Secret } from '../../core/index.ts';
import type { Secrets } from '../../model/index.ts';
import type { Keyring } from './keyring.ts';

// An encrypted blob consists of a version (1 byte), a key id (8 bytes), a nonce (12 bytes), the ciphertext and a tag
// (16 bytes).
const VERSION = 1;
const HEAD = 9;
const NONCE = 12;
const TAG = 16;

/**
 * Encrypts text with AES-256-GCM and a random nonce. The blob's head (with the key id) and the record's identity
 * (`table:id`) are associated data, so a blob cannot be decrypted after it was moved to another record.
 */
export function seal(text: string, identity: string, keyring: Keyring, random: Random): Buffer {
  const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(keyring.current.id, 'hex')]);
  const nonce = random.bytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', keyring.current.bytes, nonce);
  cipher.setAAD(Buffer.concat([head, Buffer.from(identity)]));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]);
}

/**
 * Decrypts a blob of the record `identity`.
 *
 * @throws IDKIT_MASTER_KEY_WRONG if the blob's key is unavailable, IDKIT_DATABASE_DAMAGED if the blob is not authentic
 */
export function unseal(blob: Uint8Array, identity: string, keyring: Keyring): string {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  if (bytes.length < HEAD + NONCE + TAG || bytes[0] !== VERSION)
    throw new IdkitError(
      'IDKIT_DATABASE_DAMAGED',
      `the encrypted value of ${identity} has an unknown format`,
    );
  const key = keyring.all.get(sealedWith(bytes));
  if (key === undefined)
    throw new IdkitError('IDKIT_MASTER_KEY_WRONG', `IDKIT_MASTER_KEY does not decrypt ${identity}`);
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(HEAD, HEAD + NONCE), {
    authTagLength: TAG,
  });
  decipher.setAAD(Buffer.concat([bytes.subarray(0, HEAD), Buffer.from(identity)]));
  decipher.setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(HEAD + NONCE, -TAG)), decipher.final()]).toString(
      'utf8',
    );
  } catch (cause) {
    throw new IdkitError('IDKIT_DATABASE_DAMAGED', `the encrypted value of ${identity} is not authentic`, {
      cause,
    });
  }
}

/** Returns the id of the key that encrypted a blob. */
export function sealedWith(blob: Uint8Array): string {
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength).toString('hex', 1, HEAD);
}

/** Encrypts the secrets of a record into one blob. Returns null if the record has no secrets. */
export function sealSecrets(
  secrets: Secrets,
  identity: string,
  keyring: Keyring,
  random: Random,
): Buffer | null {
  const entries = Object.entries(secrets);
  if (entries.length === 0) return null;
  const text = JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [name, value.reveal()])));
  return seal(text, identity, keyring, random);
}

/**
 * Decrypts the secrets of a record.
 *
 * @throws as `unseal`
 */
export function unsealSecrets(blob: Uint8Array | null, identity: string, keyring: Keyring): Secrets {
  if (blob === null) return {};
  const values: Readonly<Record<string, string>> = JSON.parse(unseal(blob, identity, keyring));
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
}
