import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { IdkitError, type Random } from '../core/index.ts';
import type { JwsKey } from './contract.ts';

// A blob consists of a nonce (12 bytes), the ciphertext and a tag (16 bytes).
const NONCE = 12;
const TAG = 16;

/**
 * Encrypts `text` so that only the holder of `token` can decrypt it together with the service. The key (AES-256-GCM) is an
 * HMAC of the token under the realm's HMAC key, so neither the database with the token's hash nor an old token in a log
 * is enough.
 *
 * @param key the HMAC key that signed the token
 * @param token the whole token, with its signature
 */
export function sealForHolder(text: string, token: string, key: JwsKey, random: Random): Buffer {
  const nonce = random.bytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', keyOf(token, key), nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a blob of `sealForHolder`. @throws IDKIT_DATABASE_DAMAGED if the blob is not authentic */
export function openForHolder(sealed: Uint8Array, token: string, key: JwsKey): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(token, key), sealed.subarray(0, NONCE), {
      authTagLength: TAG,
    });
    decipher.setAuthTag(sealed.subarray(-TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new IdkitError(
      'IDKIT_DATABASE_DAMAGED',
      'the sealed successor of a refresh token is not authentic',
      {
        cause,
      },
    );
  }
}

/** The label keeps the key apart from signatures, which are HMACs under the same key. */
function keyOf(token: string, { privateKey, algorithm, kid }: JwsKey): Buffer {
  if (privateKey?.type !== 'secret')
    throw new IdkitError('IDKIT_BUG', `${algorithm} key ${kid} is not an HMAC key`);
  return createHmac('sha256', privateKey).update('idkit successor of refresh token\0').update(token).digest();
}
