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

/** Type of the old hashes that the policy's history is checked against. */
export const PASSWORD_HISTORY = 'password-history';

/** The first thing that a realm's policy does not allow about the content of a new password (facts §11). */
export async function findContentFault(
  policy: string | undefined,
  candidate: PasswordCandidate,
): Promise<PasswordFault | undefined> {
  const parsed = parsePasswordPolicy(policy);
  const text = candidate.password;
  const asked = isPasswordTooLong(text) ? [] : parsed.regexPatterns;
  const matches = await matchPatterns(asked.map((pattern) => ({ pattern, text })));
  return checkPassword(parsed, candidate, matches)[0];
}

/**
 * The first thing that a realm's policy does not allow about a new password (facts §11): its content, then whether it
 * is one of the last that the policy remembers. Undefined: it may be set.
 *
 * @param credentials all of the user's; empty for a user who has none yet
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
