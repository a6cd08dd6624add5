import { errors } from 'jose';
import { BearerRefusal, type RefusalReason } from './bearer-refusal.ts';

/** The reasons for the claims that jose checks. Any other claim is `claims`. */
const CLAIMS: Readonly<Record<string, RefusalReason>> = {
  iss: 'issuer',
  aud: 'audience',
  nbf: 'not_yet_valid',
};

/** The errors of jose for a token that no published key verifies. */
const UNVERIFIED = [
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
];

/**
 * Converts an error of jose about a token into the refusal of the request. The error is not its cause, because it has
 * all claims, and a log should not contain them.
 */
export function refuseToken(error: errors.JOSEError): BearerRefusal {
  return new BearerRefusal(reasonOf(error), error.message);
}

function reasonOf(error: errors.JOSEError): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIMS[error.claim] ?? 'claims';
  return UNVERIFIED.includes(error.code) ? 'signature' : 'malformed';
}
