import { hash } from 'node:crypto';
import { constantTimeEqual } from '../crypto/index.ts';
import type { AuthorizationCode } from '../model/index.ts';
import { Refusal } from './refusal.ts';

/** 43 to 128 unreserved characters (RFC 7636 §4.1). */
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;

/**
 * Proof Key for Code Exchange (RFC 7636 §4.6; facts §3.3): who exchanges a code knows the verifier behind the
 * challenge of its request. A challenge without a method is plain.
 *
 * @throws Refusal `code-refused`
 */
export function checkVerifier(
  { codeChallenge, codeChallengeMethod = 'plain' }: AuthorizationCode,
  verifier: string | undefined,
): void {
  if (codeChallenge === undefined) {
    if (verifier === undefined) return;
    throw refused(
      'PKCE code verifier specified but challenge not present in authorization',
      'invalid_code_verifier',
    );
  }
  if (verifier === undefined) throw refused('PKCE code verifier not specified', 'code_verifier_missing');
  if (!VERIFIER.test(verifier))
    throw refused('PKCE verification failed: Invalid code verifier', 'invalid_code_verifier');
  const expected = codeChallengeMethod === 'S256' ? hash('sha256', verifier, 'base64url') : verifier;
  if (!constantTimeEqual(expected, codeChallenge))
    throw refused('PKCE verification failed: Code mismatch', 'pkce_verification_failed');
}

function refused(description: string, eventError: string): Refusal {
  return new Refusal('code-refused', { description, eventError });
}
