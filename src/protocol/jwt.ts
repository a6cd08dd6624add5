import { decodeJsonObject } from '../core/index.ts';
import { verifyJws } from '../crypto/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';

/** A parsed compact JWS (RFC 7515 §7.1), whose signature is not verified. */
export interface ParsedJwt {
  header: Readonly<Record<string, unknown>> & { alg: string; kid?: string };
  claims: Readonly<Record<string, unknown>>;
  /** The signed text. */
  signingInput: string;
  /** The signature in base64url, as sent. */
  signature: string;
}

/** Maximum length, in characters, of a token that idkit parses. The service's own tokens have about 1,500. */
const MAX_LENGTH = 64 * 1024;
const shape = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Parses a token. Returns undefined if it is not a JWS whose header and payload are JSON objects. */
export function parseJwt(token: string): ParsedJwt | undefined {
  if (token.length > MAX_LENGTH || !shape.test(token)) return undefined;
  const first = token.indexOf('.');
  const last = token.lastIndexOf('.');
  const header = decodeJsonObject(token.slice(0, first));
  const claims = decodeJsonObject(token.slice(first + 1, last));
  if (header === undefined || claims === undefined) return undefined;
  const { alg, kid } = header;
  if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return undefined;
  return {
    header: header as ParsedJwt['header'],
    claims,
    signingInput: token.slice(0, last),
    signature: token.slice(last + 1),
  };
}

/** Returns a claim if it is a string, otherwise undefined. */
export function textClaim(claims: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = claims[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns a claim if it is a finite number, otherwise undefined. */
export function numberClaim(claims: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = claims[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Returns `aud` as a list (RFC 7519 §4.1.3). */
export function audienceOf(claims: Readonly<Record<string, unknown>>): readonly string[] {
  const { aud } = claims;
  if (typeof aud === 'string') return [aud];
  return Array.isArray(aud) ? aud.filter((one): one is string => typeof one === 'string') : [];
}

/**
 * Returns the claims of a token if an active or passive key of this realm signed it, otherwise undefined. Does not
 * check issuer, type or times.
 */
export function verifyRealmJwt(
  ctx: Pick<ProtocolContext, 'keys'>,
  configuration: RealmConfiguration,
  token: string,
): Readonly<Record<string, unknown>> | undefined {
  const verified = verifyJws(token, (kid, algorithm) =>
    ctx.keys.verificationKey(configuration, kid, algorithm),
  );
  return verified.outcome === 'valid' ? verified.payload : undefined;
}
