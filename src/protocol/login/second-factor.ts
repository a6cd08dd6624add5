import type { Credential } from '../../model/index.ts';
import type { AuthenticatorContext, CodeMatch } from './authenticators/authenticator.ts';
import { AUTHENTICATORS } from './authenticators/table.ts';

/** The types of credentials that do not count as a second factor after a password. */
const FIRST_FACTORS: ReadonlySet<string> = new Set(['password', 'password-history', 'webauthn-passwordless']);

/** Lists a user's second factors. A user who has any must always prove one, even if idkit cannot check any of them. */
export function listSecondFactors(credentials: readonly Credential[]): readonly Credential[] {
  return credentials.filter((credential) => !FIRST_FACTORS.has(credential.type));
}

/** Whether a page can ask for the code of this second factor. */
export function takesCode({ type }: Credential): boolean {
  return AUTHENTICATORS.has(type);
}

/**
 * Returns a match for each second factor that accepts the code. The work does not depend on whether the password was
 * correct.
 */
export function matchCode(
  context: AuthenticatorContext,
  factors: readonly Credential[],
  code: string,
): readonly CodeMatch[] {
  if (code === '') return [];
  return factors.flatMap((stored) => AUTHENTICATORS.get(stored.type)?.match(context, stored, code) ?? []);
}

/** Marks a code as used at the first factor that has not accepted it before. Returns false if all have accepted it. */
export async function spendCode(matches: readonly CodeMatch[]): Promise<boolean> {
  for (const match of matches) if (await match.spend()) return true;
  return false;
}

/** Returns the reason to log if idkit cannot check any of the user's second factors. */
export function describeRefusedCode(factors: readonly Credential[]): string | undefined {
  const [first] = factors;
  return first === undefined || factors.some(takesCode) ? undefined : describeUnsupported(first);
}

/** Describes, for an event, why a second factor cannot be verified. */
export function describeUnsupported({ type }: Credential): string {
  return `idkit cannot check a second factor of type ${type}`;
}
