import { createHmac, sign } from 'node:crypto';
import { IdkitError } from '../core/index.ts';
import type { JwsKey } from './contract.ts';
import { keyLabel, RECIPES } from './jws-algorithms.ts';

export { isSignatureAlgorithm, SIGNATURE_ALGORITHMS } from './jws-algorithms.ts';

const headers = new WeakMap<JwsKey, Map<string, string>>();

/**
 * A JWS in compact form (RFC 7515 §3.1) with the header fields `alg`, `typ`, `kid` in Keycloak's order.
 *
 * @param payload claims, or the text itself
 * @param header `typ`, `JWT` where absent
 * @throws IdkitError IDKIT_BUG where the key has no private part
 */
export async function signJws(
  key: JwsKey,
  payload: object | string,
  header: { typ?: string } = {},
): Promise<string> {
  const { privateKey } = key;
  if (privateKey === undefined) throw new IdkitError('IDKIT_BUG', `${keyLabel(key)} cannot sign`);
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const input = `${encodedHeader(key, header.typ ?? 'JWT')}.${Buffer.from(text).toString('base64url')}`;
  const recipe = RECIPES[key.algorithm];
  if (recipe.kind === 'hmac') {
    return `${input}.${createHmac(recipe.hash, privateKey).update(input).digest('base64url')}`;
  }
  const bytes = Buffer.from(input, 'latin1');
  const secret = { key: privateKey, ...recipe.options };
  if (!recipe.onPool) return `${input}.${sign(recipe.hash, bytes, secret).toString('base64url')}`;
  return await new Promise((resolve, reject) => {
    sign(recipe.hash, bytes, secret, (error, signature) => {
      if (error) reject(error);
      else resolve(`${input}.${signature.toString('base64url')}`);
    });
  });
}

/** Made once per key and type: it is the same for every token. */
function encodedHeader(key: JwsKey, typ: string): string {
  let types = headers.get(key);
  if (types === undefined) {
    types = new Map();
    headers.set(key, types);
  }
  let encoded = types.get(typ);
  if (encoded === undefined) {
    const header = { alg: key.algorithm, typ, kid: key.kid };
    encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
    types.set(typ, encoded);
  }
  return encoded;
}
