import { createHmac, type KeyObject, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { IdkitError } from '../core/index.ts';
import type { JwsKey } from './contract.ts';
import { keyLabel, RECIPES, type Recipe } from './jws-algorithms.ts';

export { isSignatureAlgorithm, SIGNATURE_ALGORITHMS } from './jws-algorithms.ts';

/** On one core a thread of the pool frees nothing, and handing a signature over costs a tenth of it. */
const HAS_POOL = availableParallelism() > 1;
/** Signatures of one turn of the event loop at most, so that nobody else waits long: 10 ms of RSA. */
const LARGEST_TURN = 32;

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
 * Signs after this turn of the event loop, together with all that the turn asked for: one after another they find
 * code and tables in the processor's cache, and take half the time that each takes amid other work.
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
