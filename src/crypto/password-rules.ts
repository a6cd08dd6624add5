import {
  type Credential,
  checkPassword,
  isPasswordTooLong,
  type PasswordCandidate,
  type PasswordFault,
  parsePasswordPolicy,
  passwordFault,
} from '../model/index.ts';
import type { Passwords } from './contract.ts';
import { hashPolicy } from './hash-parameters.ts';
import { matchPatterns } from './pattern-matching.ts';

/** The credential type of previous passwords, which the password history of a policy checks. */
export const PASSWORD_HISTORY = 'password-history';

/**
 * Returns the first rule of a realm's policy that the content of a new password violates
 * (docs/keycloak/login.md#password-policy).
 */
export async function findContentFault(
  policy: string | undefined,
  candidate: PasswordCandidate,
): Promise<PasswordFault | undefined> {
  return (await listContentFaults(policy, candidate))[0];
}

/** Lists every rule of a realm's policy that the content of a new password violates. */
export async function listContentFaults(
  policy: string | undefined,
  candidate: PasswordCandidate,
): Promise<readonly PasswordFault[]> {
  const parsed = parsePasswordPolicy(policy);
  const text = candidate.password;
  const patterns = isPasswordTooLong(text) ? [] : parsed.regexPatterns;
  const matches = await matchPatterns(patterns.map((pattern) => ({ pattern, text })));
  return checkPassword(parsed, candidate, matches);
}

/**
 * Returns the first rule of a realm's policy that a new password violates (docs/keycloak/login.md#password-policy).
 * Checks the content first, then the history. Returns undefined for an acceptable password.
 *
 * @param credentials all credentials of the user; empty for a new user
 */
export async function findPasswordFault(
  passwords: Pick<Passwords, 'verify'>,
  policy: string | undefined,
  candidate: PasswordCandidate,
  credentials: readonly Credential[],
): Promise<PasswordFault | undefined> {
  return (
    (await findContentFault(policy, candidate)) ??
    (await findHistoryFault(passwords, policy, candidate, credentials))
  );
}

/**
 * Lists every rule of a realm's policy that a new password violates, so that a user can correct all of them at once. The
 * parameters are those of `findPasswordFault`.
 */
export async function listPasswordFaults(
  passwords: Pick<Passwords, 'verify'>,
  policy: string | undefined,
  candidate: PasswordCandidate,
  credentials: readonly Credential[],
): Promise<readonly PasswordFault[]> {
  const faults = await listContentFaults(policy, candidate);
  // A password of excessive length cannot be one of the user's previous passwords.
  if (isPasswordTooLong(candidate.password)) return faults;
  const reused = await findHistoryFault(passwords, policy, candidate, credentials);
  return reused === undefined ? faults : [...faults, reused];
}

async function findHistoryFault(
  passwords: Pick<Passwords, 'verify'>,
  policy: string | undefined,
  candidate: PasswordCandidate,
  credentials: readonly Credential[],
): Promise<PasswordFault | undefined> {
  const { passwordHistory } = parsePasswordPolicy(policy);
  if (passwordHistory === undefined) return undefined;
  const newest = credentials
    .filter(({ type }) => type === 'password' || type === PASSWORD_HISTORY)
    .sort((one, other) => other.createdDate - one.createdDate)
    .slice(0, passwordHistory);
  for (const stored of newest) {
    const { outcome } = await passwords.verify(candidate.password, stored, hashPolicy(policy));
    if (outcome === 'match') return passwordFault('History', passwordHistory);
  }
  return undefined;
}
