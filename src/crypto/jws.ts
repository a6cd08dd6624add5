import {
  constants,
  createHmac,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { availableParallelism } from 'node:os';
import { IdkitError, isJsonObject, type JsonObject } from '../core/index.ts';
import type { JwsKey, SignatureAlgorithm } from './contract.ts';

/**
 * Whether to sign on the thread pool. On a single core, the pool saves no time, and passing a signature to it costs a
 * tenth of the time of the signature.
 */
const HAS_POOL = availableParallelism() > 1;
/** Maximum number of signatures in one event loop iteration: 10 ms of RSA. It limits how long other work waits. */
const LARGEST_TURN = 32;

const headers = new WeakMap<JwsKey, Map<string, string>>();

/**
 * Signs a JWS in compact form (RFC 7515 §3.1). The header fields `alg`, `typ` and `kid` are in Keycloak's order.
 *
 * @param payload the claims, or a text to sign unchanged
 * @param header `typ` defaults to `JWT`
 * @throws IdkitError IDKIT_BUG if the key has no private part
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
  const bytes = Buffer.from(input, 'latin1');
  return await new Promise((resolve, reject) => {
    const done = (error: Error | null, signature?: Buffer): void => {
      if (signature === undefined) reject(error);
      else resolve(`${input}.${signature.toString('base64url')}`);
    };
    if (recipe.kind === 'pair' && recipe.onPool && HAS_POOL)
      sign(recipe.hash, bytes, { key: privateKey, ...recipe.options }, done);
    else signSoon({ recipe, key: privateKey, bytes, done });
  });
}

interface SignJob {
  recipe: Recipe;
  key: KeyObject;
  bytes: Buffer;
  done: (error: Error | null, signature?: Buffer) => void;
}

const waiting: SignJob[] = [];

/**
 * Signs at the end of the event loop iteration, together with all other signatures of the iteration. Consecutive
 * signatures find their code and tables in the processor's cache and take half the time.
 */
function signSoon(job: SignJob): void {
  if (waiting.push(job) === 1) setImmediate(signWaiting);
}

function signWaiting(): void {
  const jobs = waiting.splice(0, LARGEST_TURN);
  if (waiting.length > 0) setImmediate(signWaiting);
  const signed = jobs.map(trySign);
  for (const [index, { done }] of jobs.entries()) {
    const result = signed[index]!;
    if (Buffer.isBuffer(result)) done(null, result);
    else done(result);
  }
}

function trySign({ recipe, key, bytes }: SignJob): Buffer | Error {
  try {
    if (recipe.kind === 'hmac') return createHmac(recipe.hash, key).update(bytes).digest();
    return sign(recipe.hash, bytes, { key, ...recipe.options });
  } catch (error) {
    return error as Error;
  }
}

/** Returns the encoded header. It is cached, because it is the same in every token with this key and type. */
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

/** The parameters of a signature algorithm for node:crypto. */
type Recipe =
  | { kind: 'hmac'; hash: string }
  | { kind: 'pair'; hash: string | null; options: Omit<SignKeyObjectInput, 'key'>; onPool: boolean };

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
} as const;
const RAW = { dsaEncoding: 'ieee-p1363' } as const;

/**
 * The algorithms of RFC 7518 §3.1 and RFC 8037. An RSA signature takes 0.3 ms. If there are several cores, it runs on
 * the thread pool and keeps the event loop free. The other algorithms take less time than passing the work to the pool.
 */
export const RECIPES: Readonly<Record<SignatureAlgorithm, Recipe>> = {
  RS256: { kind: 'pair', hash: 'sha256', options: {}, onPool: true },
  RS384: { kind: 'pair', hash: 'sha384', options: {}, onPool: true },
  RS512: { kind: 'pair', hash: 'sha512', options: {}, onPool: true },
  PS256: { kind: 'pair', hash: 'sha256', options: PSS, onPool: true },
  PS384: { kind: 'pair', hash: 'sha384', options: PSS, onPool: true },
  PS512: { kind: 'pair', hash: 'sha512', options: PSS, onPool: true },
  ES256: { kind: 'pair', hash: 'sha256', options: RAW, onPool: false },
  ES384: { kind: 'pair', hash: 'sha384', options: RAW, onPool: false },
  ES512: { kind: 'pair', hash: 'sha512', options: RAW, onPool: false },
  EdDSA: { kind: 'pair', hash: null, options: {}, onPool: false },
  HS256: { kind: 'hmac', hash: 'sha256' },
  HS384: { kind: 'hmac', hash: 'sha384' },
  HS512: { kind: 'hmac', hash: 'sha512' },
};

/** All signature algorithms that idkit supports. */
export const SIGNATURE_ALGORITHMS = Object.keys(RECIPES) as readonly SignatureAlgorithm[];

/** Reports whether a value from a setting or a token names a signature algorithm. */
export function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === 'string' && Object.hasOwn(RECIPES, name);
}

/** Returns a name of the key for messages, without its secret. */
function keyLabel(key: JwsKey): string {
  return `${key.algorithm} key ${key.kid}`;
}

/** The fields of the protected header that idkit reads. */
export interface JwsHeader {
  alg: SignatureAlgorithm;
  kid: string;
  typ?: string;
}

/**
 * `malformed`: the text is not a JWS with a JSON payload, or its header has an unsupported field or algorithm (`crit`,
 * `none`). `wrong algorithm`: the algorithm of the header differs from that of the key.
 */
export type JwsVerification =
  | { outcome: 'valid'; header: JwsHeader; payload: Record<string, unknown> }
  | { outcome: 'malformed' | 'unknown key' | 'wrong algorithm' | 'bad signature' };

/** Maximum length of a token in characters. Servers do not accept longer headers, and the limit keeps parsing cheap. */
const MOST_CHARACTERS = 65_536;

/**
 * Verifies a JWS in compact form (RFC 7515 §5.2). The key determines the algorithm, never the token: a header with
 * another algorithm is rejected before any computation (RFC 8725 §3.1). Does not check `exp` or other claims.
 *
 * @param findKey returns the key for the `kid` and `alg` of the header, which are not verified yet
 * @param options `withoutKid`: accept a header without `kid`, and pass an empty text to `findKey`
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
  // Decoding ignores the last bits of the text, so several spellings have the same bytes. Only one of them is valid.
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

function parseObject(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(part, 'base64url')));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
