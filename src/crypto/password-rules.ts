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
  const parsed = parsePasswordPolicy(policy);
  const text = candidate.password;
  const patterns = isPasswordTooLong(text) ? [] : parsed.regexPatterns;
  const matches = await matchPatterns(patterns.map((pattern) => ({ pattern, text })));
  return checkPassword(parsed, candidate, matches)[0];
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
  const parsed = parsePasswordPolicy(policy);
  const fault = await findContentFault(policy, candidate);
  if (fault !== undefined) return fault;
  const { passwordHistory } = parsed;
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
