// Crypto: password hashes, one-time passwords, key pairs, certificates and JWS.
// Owns: the algorithms and their threads; the content of a realm's key components. Must not know: storage, HTTP, the
// rules of tokens.
// Start at contract.ts, then read realm-keys.ts.
export {
  HashingBusy,
  type HashingFigures,
  type HashPolicy,
  type JwsKey,
  type Passwords,
  type SignatureAlgorithm,
} from './contract.ts';
export { constantTimeEqual, sha256 } from './digest.ts';
export { FairQueue, type HashCaller, type QueuedJob } from './fair-queue.ts';
export { hashPolicy } from './hash-parameters.ts';
export {
  isSignatureAlgorithm,
  type JwsHeader,
  type JwsVerification,
  SIGNATURE_ALGORITHMS,
  signJws,
  verifyJws,
} from './jws.ts';
export { ensureNamedKeys } from './named-algorithms.ts';
export {
  ensureAlgorithmKey,
  freshKeyComponents,
  type NewKeyComponent,
  type NewKeyResult,
  newKeyComponent,
} from './new-realm-keys.ts';
export {
  checkOtp,
  type OtpCheck,
  type OtpCredential,
  type OtpVerdict,
  readOtpCredential,
} from './otp.ts';
export {
  findContentFault,
  findPasswordFault,
  listContentFaults,
  listPasswordFaults,
  PASSWORD_HISTORY,
} from './password-rules.ts';
export { openPasswords } from './passwords.ts';
export { matchPatterns, type PatternCheck, type PatternMatches } from './pattern-matching.ts';
export {
  KEY_PROVIDER_TYPE,
  KEY_SECRET_NAMES,
  type KeyMaterial,
  readKeyComponent,
} from './realm-keys.ts';
export { findHashExcess } from './stored-hash.ts';
