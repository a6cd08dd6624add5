import {
  createPublicKey,
  createSecretKey,
  type JsonWebKeyInput,
  type KeyObject,
  type PublicKeyInput,
} from 'node:crypto';
import { decodeJsonObject, isJsonObject, parseJsonObject, seconds } from '../../core/index.ts';
import { isSignatureAlgorithm, type JwsKey, type SignatureAlgorithm, verifyJws } from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import { audienceOf, numberClaim } from '../../protocol/index.ts';
import type { BrowserCall } from '../call.ts';
import type { Parameters } from './parameters.ts';

/** The result of reading the parameter `request`. `reason` is recorded in the event of the refusal. */
export type RequestObject =
  | { outcome: 'read'; claims: Readonly<Record<string, unknown>> }
  | { outcome: 'refused'; reason: string };

const MOST_CHARACTERS = 65_536;

/**
 * Reads a request object (OpenID Connect Core §6.1): unsigned, or signed with the client's registered key or secret,
 * depending on the client's attribute `request.object.signature.alg`. Returns undefined if the request has no request
 * object. `request_uri` is rejected, because idkit fetches no URL that a request names.
 */
export function readRequestObject(
  call: BrowserCall,
  client: Client,
  { values }: Parameters,
): RequestObject | undefined {
  const text = values.get('request');
  const uri = values.get('request_uri');
  const required = client.attributes['request.object.required'];
  if (uri !== undefined) return refused('request_uri is not supported');
  if (text === undefined)
    return required?.startsWith('request') ? refused('the client must send a request object') : undefined;
  if (required === 'request_uri only')
    return refused('the client must send a request_uri instead of a request object');
  const claims = verify(client, text);
  if (claims === undefined) return refused('the signature of the request object is invalid');
  return judge(call, client, values, claims);
}

function verify(client: Client, text: string): Readonly<Record<string, unknown>> | undefined {
  const wanted = client.attributes['request.object.signature.alg'] ?? 'any';
  const header = parsePart(text.split('.', 1)[0] ?? '');
  if (header === undefined || text.length > MOST_CHARACTERS) return undefined;
  if (wanted !== 'any' && wanted !== '' && header['alg'] !== wanted) return undefined;
  if (header['alg'] === 'none') {
    const [, payload, signature, ...more] = text.split('.');
    return signature === '' && more.length === 0 ? parsePart(payload ?? '') : undefined;
  }
  const verified = verifyJws(text, (kid, algorithm) => findKey(client, kid, algorithm), {
    withoutKid: true,
  });
  return verified.outcome === 'valid' ? verified.payload : undefined;
}

function judge(
  { ctx, issuer }: BrowserCall,
  client: Client,
  values: Parameters['values'],
  claims: Readonly<Record<string, unknown>>,
): RequestObject {
  const now = seconds(ctx.clock);
  const outer = values.get('response_type');
  if (claims['client_id'] !== undefined && claims['client_id'] !== client.clientId)
    return refused('client_id of the request object differs from that of the request');
  if (outer !== undefined && claims['response_type'] !== undefined && claims['response_type'] !== outer)
    return refused('response_type of the request object differs from that of the request');
  if (claims['request'] !== undefined || claims['request_uri'] !== undefined)
    return refused('the request object contains another request object');
  const expiry = numberClaim(claims, 'exp');
  if (expiry !== undefined && expiry <= now) return refused('the request object has expired');
  const audience = audienceOf(claims);
  if (audience.length > 0 && !audience.includes(issuer))
    return refused('aud of the request object does not contain the issuer of this realm');
  for (const value of Object.values(claims))
    if (typeof value === 'string' && value.includes('\0'))
      return refused('the request object contains a NUL character');
  return { outcome: 'read', claims };
}

/** Returns the client's registered key: its secret for HMAC, otherwise a key from `jwks.string` or its certificate. */
function findKey(client: Client, kid: string, algorithm: SignatureAlgorithm): JwsKey | undefined {
  if (!isSignatureAlgorithm(algorithm)) return undefined;
  if (algorithm.startsWith('HS')) {
    const secret = client.secrets['/secret']?.reveal();
    if (!secret) return undefined;
    return { kid, algorithm, privateKey: createSecretKey(Buffer.from(secret)) };
  }
  const publicKey = findPublicKey(client, kid, algorithm);
  return publicKey === undefined ? undefined : { kid, algorithm, publicKey };
}

function findPublicKey({ attributes }: Client, kid: string, algorithm: string): KeyObject | undefined {
  if (attributes['use.jwks.string'] === 'true') {
    const { keys } = parseJsonObject(attributes['jwks.string'] ?? '') ?? {};
    const usable = (Array.isArray(keys) ? keys : [])
      .filter(isJsonObject)
      .filter((key) => key['use'] !== 'enc' && (key['alg'] === undefined || key['alg'] === algorithm));
    const key = kid === '' && usable.length === 1 ? usable[0] : usable.find((one) => one['kid'] === kid);
    return key === undefined ? undefined : readKey({ key, format: 'jwk' }, algorithm);
  }
  const certificate = attributes['jwt.credential.certificate'];
  const plain = attributes['jwt.credential.public.key'];
  const pem = certificate ? ['CERTIFICATE', certificate] : plain ? ['PUBLIC KEY', plain] : undefined;
  if (pem === undefined) return undefined;
  const [label, text] = pem;
  return readKey(
    { key: `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`, format: 'pem' },
    algorithm,
  );
}

const TYPES: Readonly<Record<string, string>> = { R: 'rsa', P: 'rsa', E: 'ec' };

/** Parses a public key. Returns undefined if the input is invalid, or if the key is not suitable for the algorithm. */
function readKey(input: JsonWebKeyInput | PublicKeyInput, algorithm: string): KeyObject | undefined {
  try {
    const key = createPublicKey(input);
    const kind = algorithm === 'EdDSA' ? 'ed25519' : TYPES[algorithm[0] ?? ''];
    return key.asymmetricKeyType === kind ? key : undefined;
  } catch {
    return undefined;
  }
}

function parsePart(part: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  return decodeJsonObject(part);
}

function refused(reason: string): RequestObject {
  return { outcome: 'refused', reason };
}
