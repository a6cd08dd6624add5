import { constants, type SignKeyObjectInput } from 'node:crypto';
import type { JwsKey, SignatureAlgorithm } from './contract.ts';

/** How one signature algorithm is done with node:crypto. */
export type Recipe =
  | { kind: 'hmac'; hash: string }
  | { kind: 'pair'; hash: string | null; options: Omit<SignKeyObjectInput, 'key'>; onPool: boolean };

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
} as const;
const RAW = { dsaEncoding: 'ieee-p1363' } as const;

/**
 * RFC 7518 §3.1 and RFC 8037. RSA signs on the thread pool where there are cores for it: it takes 0.3 ms, and
 * the event loop stays free; the others are quicker than the way there (performance.md, lesson 2).
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

/** All signature algorithms that idkit signs and verifies with. */
export const SIGNATURE_ALGORITHMS = Object.keys(RECIPES) as readonly SignatureAlgorithm[];

/** Whether a name out of a setting or a token is one of them. */
export function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === 'string' && Object.hasOwn(RECIPES, name);
}

/** Names a key in messages without showing anything of it. */
export function keyLabel(key: JwsKey): string {
  return `${key.algorithm} key ${key.kid}`;
}
