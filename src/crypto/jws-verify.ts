import { createHmac, timingSafeEqual, verify } from 'node:crypto';
import type { JwsKey, SignatureAlgorithm } from './contract.ts';
import { isSignatureAlgorithm, RECIPES } from './jws-algorithms.ts';

/** The protected header, as far as it was understood. */
export interface JwsHeader {
  alg: SignatureAlgorithm;
  kid: string;
  typ?: string;
}

/**
 * `malformed`: no JWS with a JSON payload, or one whose header asks for what is not known (`none`, `crit`).
 * `wrong algorithm`: the key is for another algorithm than the header names.
 */
export type JwsVerification =
  | { outcome: 'valid'; header: JwsHeader; payload: Record<string, unknown> }
  | { outcome: 'malformed' | 'unknown key' | 'wrong algorithm' | 'bad signature' };

/** Longer than any header that a server accepts; parsing stays cheap for whatever is sent. */
const MOST_CHARACTERS = 65_536;

/**
 * Verifies a JWS in compact form (RFC 7515 §5.2). The key decides the algorithm, never the token (RFC 8725 §3.1):
 * a header that names another one is refused before anything is computed. Says nothing about `exp` or other claims.
 *
 * @param findKey the key for a `kid` and `alg` out of the header; both are the sender's words
 * @param options `withoutKid`: a header without `kid` is taken too, and asked for as the empty text
 */
export function verifyJws(
  token: string,
  findKey: (kid: string, algorithm: SignatureAlgorithm) => JwsKey | undefined,
  options: { withoutKid?: boolean } = {},
): JwsVerification {
  if (token.length > MOST_CHARACTERS) return { outcome: 'malformed' };
  const parts = token.split('.');
  const [first, second, third] = parts;
  if (parts.length !== 3 || !isBase64Url(first) || !isBase64Url(second) || !isBase64Url(third)) {
    return { outcome: 'malformed' };
  }
  const header = parseHeader(first, options.withoutKid === true);
  const payload = parseObject(second);
  if (header === undefined || payload === undefined) return { outcome: 'malformed' };
  const key = findKey(header.kid, header.alg);
  if (key === undefined) return { outcome: 'unknown key' };
  if (key.algorithm !== header.alg) return { outcome: 'wrong algorithm' };
  const input = Buffer.from(`${first}.${second}`, 'latin1');
  const signature = Buffer.from(third, 'base64url');
  // The last character has bits that decoding drops: one signature must have one spelling.
  if (signature.toString('base64url') !== third) return { outcome: 'bad signature' };
  return holds(key, input, signature) ? { outcome: 'valid', header, payload } : { outcome: 'bad signature' };
}

function holds(key: JwsKey, input: Buffer, signature: Buffer): boolean {
  const recipe = RECIPES[key.algorithm];
  if (recipe.kind === 'hmac') {
    if (key.privateKey === undefined) return false;
    const expected = createHmac(recipe.hash, key.privateKey).update(input).digest();
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  }
  if (key.publicKey === undefined) return false;
  return verify(recipe.hash, input, { key: key.publicKey, ...recipe.options }, signature);
}

function parseHeader(part: string, withoutKid: boolean): JwsHeader | undefined {
  const header = parseObject(part);
  if (header === undefined || header.crit !== undefined) return undefined;
  const { alg, kid = withoutKid ? '' : undefined, typ } = header;
  if (!isSignatureAlgorithm(alg) || typeof kid !== 'string') return undefined;
  return typeof typ === 'string' ? { alg, kid, typ } : { alg, kid };
}

function isBase64Url(part: string | undefined): part is string {
  return part !== undefined && /^[A-Za-z0-9_-]+$/.test(part);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(part, 'base64url')));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
