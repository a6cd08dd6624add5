import { createHmac } from 'node:crypto';
import { type JsonObject, parseJsonObject } from '../core/index.ts';
import type { Credential } from '../model/index.ts';
import { constantTimeEqual } from './digest.ts';

/** A parsed one-time password credential (docs/keycloak/users.md#credentials). */
export interface OtpCredential {
  secret: Buffer;
  type: 'totp' | 'hotp';
  hash: 'sha1' | 'sha256' | 'sha512';
  digits: number;
  /** Length of a period in seconds. */
  period: number;
  /** For HOTP, the next counter. */
  counter: number;
}

/** The input for the check of a code. */
export interface OtpCheck {
  credential: OtpCredential;
  code: string;
  /**
   * Number of other steps to accept (`otpPolicyLookAheadWindow`). For TOTP, these are periods before and after the
   * current one. For HOTP, these are the following counters.
   */
  lookAhead: number;
  /** Unix time in milliseconds. */
  now: number;
}

/**
 * The result of a check. `step` is the period (TOTP) or counter (HOTP) of the code. A code is valid only once, so the
 * caller claims the step. For HOTP, the caller also stores `step + 1` as the next counter.
 */
export type OtpVerdict = { outcome: 'match'; step: number } | { outcome: 'mismatch' };

/** Maximum number of other steps to accept. A mistyped setting must not make nearly all codes valid. */
const MOST_STEPS = 50;

/** Checks a code (RFC 4226, RFC 6238). Compares it with each possible code in constant time. */
export function checkOtp({ credential, code, lookAhead, now }: OtpCheck): OtpVerdict {
  const window = Math.min(Math.max(0, Math.trunc(lookAhead)), MOST_STEPS);
  const first = credential.type === 'hotp' ? credential.counter : Math.floor(now / 1000 / credential.period);
  let found: number | undefined;
  for (const step of candidates(credential.type, first, window)) {
    if (constantTimeEqual(codeAt(credential, step), code)) found ??= step;
  }
  return found === undefined ? { outcome: 'mismatch' } : { outcome: 'match', step: found };
}

/** Parses a credential of type `otp`. Returns undefined if its parameters are unusable, so that it never matches. */
export function readOtpCredential(
  credential: Pick<Credential, 'credentialData' | 'secrets'>,
): OtpCredential | undefined {
  const data = parseObject(credential.credentialData);
  const stored = parseObject(credential.secrets['/secretData']?.reveal() ?? '');
  const hash = HASHES.get(String(data.algorithm ?? 'HmacSHA1'));
  const type = data.subType ?? 'totp';
  const { value } = stored;
  if (typeof value !== 'string' || value === '' || hash === undefined) return undefined;
  if (type !== 'totp' && type !== 'hotp') return undefined;
  const digits = whole(data.digits, 6);
  const period = whole(data.period, 30);
  const counter = whole(data.counter, 0);
  if (digits < 4 || digits > 10 || period < 1 || counter < 0) return undefined;
  const secret = data.secretEncoding === 'BASE32' ? fromBase32(value) : Buffer.from(value, 'utf8');
  return secret === undefined || secret.length === 0
    ? undefined
    : { secret, type, hash, digits, period, counter };
}

const HASHES: ReadonlyMap<string, OtpCredential['hash']> = new Map([
  ['HmacSHA1', 'sha1'],
  ['HmacSHA256', 'sha256'],
  ['HmacSHA512', 'sha512'],
]);

function candidates(type: OtpCredential['type'], first: number, window: number): readonly number[] {
  const steps = [first];
  for (let distance = 1; distance <= window; distance++) {
    steps.push(first + distance);
    if (type === 'totp') steps.push(first - distance);
  }
  return steps.filter((step) => step >= 0);
}

/** Returns the code of a step by dynamic truncation (RFC 4226 §5.3). */
function codeAt({ secret, hash, digits }: OtpCredential, step: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(step));
  const digest = createHmac(hash, secret).update(message).digest();
  const offset = digest[digest.length - 1]! & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** Decodes base32 (RFC 4648 §6), in upper or lower case, with or without padding. */
function fromBase32(text: string): Buffer | undefined {
  const letters = text.toUpperCase().replace(/=+$/, '');
  if (!/^[A-Z2-7]*$/.test(letters)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of letters) {
    held = (held << 5) | 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 0xff);
      held &= (1 << bits) - 1;
    }
  }
  return Buffer.from(bytes);
}

function whole(value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : -1;
}

function parseObject(text: string): JsonObject {
  return parseJsonObject(text) ?? {};
}
